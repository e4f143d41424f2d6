"""Real formatters on mirrored files: prettier and markdownlint change how a text looks, and no memory; needs Node."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from omoide import Scope, Service, State, app
from pure.reformatting_examples import LONG, STEPS, TEXTS

ROOT = Path(__file__).resolve().parents[2]
SHOP = Scope.project("shop")
PROGRAMS = {
    "prettier, wrap always": ("prettier", "--write", "--prose-wrap=always"),
    "prettier, wrap never": ("prettier", "--write", "--prose-wrap=never"),
    "prettier, wrap preserve": ("prettier", "--write", "--prose-wrap=preserve"),
    "prettier, tabs of 4": ("prettier", "--write", "--prose-wrap=always", "--tab-width=4"),
    "prettier, tabs and CRLF": ("prettier", "--write", "--use-tabs", "--end-of-line=crlf"),
    "markdownlint": ("markdownlint", "--fix"),
    "markdownlint, underlined headings": ("markdownlint", "--fix", "--config", "underlined.json"),
}


@pytest.fixture
def commands(long: bool) -> Path:
    if not long:
        pytest.skip("installs programs: run with OMOIDE_LONG=1")
    done = subprocess.run(
        [sys.executable, "scripts/node.py", "prettier", "markdownlint-cli"], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture
def run(commands: Path, tmp_path: Path) -> Callable[[str], None]:
    """Run one of the programs on all files of a directory."""
    (tmp_path / "underlined.json").write_text('{"default": true, "heading-style": {"style": "setext_with_atx"}}')

    def run_program(name: str) -> None:
        program, *options = PROGRAMS[name]
        files = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md") if ".omoide" not in str(path)]
        done = subprocess.run(
            [commands / program, *options, *files],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={"PATH": f"{commands}:/usr/bin:/bin"},
        )
        # markdownlint ends with 1 if it found something that it cannot repair.
        assert done.returncode == 0 or (program == "markdownlint" and done.returncode == 1), done.stderr

    return run_program


@pytest.fixture
def mirrored(memory: Service, tmp_path: Path) -> Service:
    memory.create_project(SHOP.path)
    memory.mirror(tmp_path / "list" / "memories.md", scope=SHOP)
    memory.mirror(tmp_path / "tree", format="tree", scope=SHOP)
    memory.mirror(tmp_path / "entries", format="entries", scope=SHOP)
    for number, text in enumerate([LONG, STEPS, *TEXTS]):
        topic = f"*Topic* {number}: with_underscores, and long enough to be wrapped by something that wraps titles!"
        memory.remember(
            text,
            scope=SHOP,
            type="decision" if number % 5 == 0 else "tech",
            topic=topic if number % 3 == 0 else None,
            tags=["snake_case", f"tag {number}", "*star*"],
            examples=["call_it(*args)", "```js\nf('x')\n```"] if number % 4 == 0 else [],
            pinned=number % 7 == 0,
        )
    return memory


def stored_memories(memory: Service) -> dict[str, tuple[object, ...]]:
    found = memory.list(scope=SHOP, states=list(State), limit=1000).memories
    return {
        one.id: (one.content, one.topic, one.topic_given, one.type, one.tags, one.examples, one.state, one.version)
        for one in found
    }


def texts(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in place.rglob("*.md") if ".omoide" not in str(path)}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_formatter_changes_no_memory_and_its_files_stay_as_it_left_them(
    program: str, run: Callable[[str], None], mirrored: Service, tmp_path: Path
) -> None:
    before = stored_memories(mirrored)
    assert len(before) == len(TEXTS) + 2
    written = texts(tmp_path)
    run(program)
    formatted = texts(tmp_path)
    assert formatted != written, "it changed nothing: the test shows nothing"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stored_memories(mirrored) == before
        for mirror in mirrored.mirrors():
            report = app.sync_engine(mirrored).sync(mirror, whole=True)
            assert (report.imported, report.written, report.troubles) == (0, 0, ())
    assert texts(tmp_path) == formatted
    run(program)
    assert stored_memories(mirrored) == before


def test_formatters_agents_and_people_take_turns_and_nothing_is_lost(
    run: Callable[[str], None], mirrored: Service, tmp_path: Path
) -> None:
    expected = {content for content, *_ in stored_memories(mirrored).values()}
    file = tmp_path / "list" / "memories.md"
    for turn, program in enumerate(PROGRAMS):
        run(program)
        agent = (
            f"An agent's memory of turn {turn}, *emphasised* and long enough to be wrapped by the next formatter that runs"
        )
        mirrored.remember(agent, scope=SHOP)
        run(program)
        person = f"A person's memory of turn {turn}"
        file.write_text(f"{file.read_text(encoding='utf-8')}\n## mine {turn}\n- Content: {person}\n", encoding="utf-8")
        expected |= {agent, person}
        now = stored_memories(mirrored)
        assert {content for content, *_ in now.values()} == expected
        assert all(state is State.ACTIVE for *_, state, _ in now.values())
