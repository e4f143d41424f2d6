"""Whatever is in a mirrored directory, every verb answers: the trouble is reported once, by name, with what to do."""

import io
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

import omoide
from omoide import Scope, State
from omoide.files.atomic import LARGEST, Stat
from omoide.interfaces.cli import cli
from omoide.markdown.escape import escape
from omoide.model import now
from omoide.sync.run import SyncRun
from omoide.sync.snapshot import FileText
from omoide.transfer.backup import back_up_project
from omoide.transfer.export import export
from omoide.transfer.selection import TransferSelection

SHOP = Scope.project("shop")
PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]
FAR = 100_000_000_000  # the year 5138
ROOM = 4_000_000


def name_not_utf8(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\x83\x81.md")).write_text("of a Windows zip\n")


def archived_name_not_utf8(root: Path) -> None:
    (root / "archive").mkdir()
    Path(os.fsdecode(os.fsencode(root) + b"/archive/\x83\x81.md")).write_text("of a Windows zip\n")


def session_not_utf8(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/shop/MEMORY_\x83.md")).write_text("# x\n")


def date_file(seconds: int, name: str = "dated.md") -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        if not (root / name).exists():
            (root / name).write_text("dated\n")
        os.utime(root / name, (seconds, seconds))

    return plant


def date_list(root: Path) -> None:
    date_file(FAR, "memories.md")(root)


def controls(root: Path) -> None:
    (root / "a\nb\x1b[31m\u202e.md").write_text("with control characters\n")


def directory_with_such_a_name(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\x83\x81.md")).mkdir()
    (root / "directory.md").mkdir()


def dangling(root: Path) -> None:
    (root / "link.md").symlink_to(root / "nowhere.md")


def looping(root: Path) -> None:
    (root / "link.md").symlink_to(root / "link.md")


def pipe(root: Path) -> None:
    os.mkfifo(root / "pipe.md")


def device(root: Path) -> None:
    (root / "link.md").symlink_to("/dev/zero")


def listener(root: Path) -> None:
    here = Path.cwd()
    os.chdir(root)  # a socket's path may have 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket.md")
    finally:
        os.chdir(here)


def not_utf8(root: Path) -> None:
    (root / "latin.md").write_bytes(b"caf\xe9\n")


def too_large(root: Path) -> None:
    with (root / "large.md").open("wb") as file:
        file.truncate(LARGEST + 1)


def broken_front_matter(root: Path) -> None:
    (root / "front.md").write_text("---\ntags: [\n---\nx\n")


def impossible_date(root: Path) -> None:
    (root / "front.md").write_text("---\nkey: front\ncreated_at: 99999-99-99T99:99:99Z\n---\nimpossible\n")


def archive_is_a_file(root: Path) -> None:
    (root / "archive").write_text("no directory\n")


def root_is_a_file(root: Path) -> None:
    shutil.rmtree(root)
    root.write_text("no directory\n")


def remove_root(root: Path) -> None:
    shutil.rmtree(root)


def file_is_a_directory(root: Path) -> None:
    (root / "memories.md").unlink()
    (root / "memories.md").mkdir()


def file_is_a_pipe(root: Path) -> None:
    (root / "memories.md").unlink()
    os.mkfifo(root / "memories.md")


def block_is_a_directory(root: Path) -> None:
    (root / "CLAUDE.md").unlink()
    (root / "CLAUDE.md").mkdir()


def block_not_utf8(root: Path) -> None:
    (root / "CLAUDE.md").write_bytes(b"caf\xe9\n")


def date_block(root: Path) -> None:
    date_file(FAR, "CLAUDE.md")(root)


def project_is_a_file(root: Path) -> None:
    shutil.rmtree(root / "shop")
    (root / "shop").write_text("no directory\n")


class Case(NamedTuple):
    kind: str
    plant: Callable[[Path], None]
    said: str | None
    """What the report says, with the file's name as it is shown; None: nothing is wrong."""
    on_write: str | None = None
    """What the report of a verb says that should write a file, where only such a verb reports it."""


CASES = {
    "a name that is not UTF-8": Case("entries", name_not_utf8, r"notes/\x83\x81.md: its name is not UTF-8"),
    "such a name in the archive": Case("entries", archived_name_not_utf8, r"notes/archive/\x83\x81.md: its name"),
    "such a name of a session": Case("tree", session_not_utf8, r"notes/shop/MEMORY_\x83.md: its name is not UTF-8"),
    "a directory with such a name": Case("entries", directory_with_such_a_name, None),
    "control characters in a name": Case("entries", controls, None),
    "a file of the year 5138": Case("entries", date_file(FAR), "notes/dated.md: it is dated 2446-05-10, in the future"),
    "a list of the year 5138": Case("memories", date_list, "notes/memories.md: it is dated 2446-05-10, in the future"),
    "a block of the year 5138": Case("block", date_block, None),
    "a file from before 1970": Case("entries", date_file(-1_000_000_000), None),
    "a file from long before 1970": Case("entries", date_file(-(1 << 62)), None),
    "a dangling link": Case("entries", dangling, "notes/link.md cannot be read: there is a symbolic link"),
    "a looping link": Case("entries", looping, "notes/link.md cannot be read: there is a symbolic link"),
    "a pipe": Case("entries", pipe, "notes/pipe.md is not an ordinary file: replace or remove it"),
    "a device": Case("entries", device, "notes/link.md cannot be read: there is a symbolic link"),
    "a socket": Case("entries", listener, "notes/socket.md cannot be read ("),
    "a text that is not UTF-8": Case("entries", not_utf8, "notes/latin.md is not UTF-8"),
    "a file that is too large": Case("entries", too_large, "notes/large.md has 100,000,001 bytes"),
    "broken front matter": Case("entries", broken_front_matter, "notes/front.md"),
    "an impossible date": Case("entries", impossible_date, None),
    "a file in place of the archive": Case("entries", archive_is_a_file, "notes/archive cannot be read"),
    "a file in place of the root": Case("entries", root_is_a_file, "notes cannot be"),
    "a root that is gone": Case("entries", remove_root, None, "notes is gone"),
    "a directory in place of the list": Case("memories", file_is_a_directory, "notes/memories.md cannot be read"),
    "a pipe in place of the list": Case("memories", file_is_a_pipe, "notes/memories.md is not an ordinary file"),
    "a directory in place of the block": Case("block", block_is_a_directory, "notes/CLAUDE.md cannot be read"),
    "a block's file that is not UTF-8": Case("block", block_not_utf8, "notes/CLAUDE.md is not UTF-8"),
    "a file in place of a project": Case("tree", project_is_a_file, "notes/shop cannot be read"),
}

FILES = {"memories": "memories.md", "block": "CLAUDE.md"}


def target(root: Path, kind: str) -> Path:
    return root / FILES[kind] if kind in FILES else root


@pytest.fixture
def root(tmp_path):
    made = tmp_path / "notes"
    made.mkdir()
    return made


@pytest.fixture
def prepare_case(tmp_path, open_memory, root):
    """A store with a mirror of this kind and two memories in it, closed again."""

    def prepare(case: Case) -> Path:
        path = tmp_path / "memory.db"
        with open_memory(path, clock=now) as memory:
            memory.mirror(target(root, case.kind), case.kind, scope=SHOP)
            memory.remember("pnpm and Turborepo", key="build", topic="build", scope=SHOP)
            memory.remember("Never on Fridays", key="deploy", topic="deploy", scope=SHOP)
        case.plant(root)
        return path

    return prepare


def check_told_once(reports: list[str], case: Case, *, adds: bool) -> None:
    """The trouble is among the reports once, in one line that a terminal can show, and nothing else is."""
    said = case.said or (case.on_write if adds else None)
    if said is None:
        assert reports == []
        return
    assert [report for report in reports if said in report] == reports
    assert len(reports) == len(set(reports)) == 1
    assert reports[0].isprintable()
    assert reports[0].isascii()


# Python


def export_keys(memory):
    out = io.BytesIO()
    export(memory, out, "jsonl", TransferSelection(scope=SHOP), lambda _: None)
    return [json.loads(line)["key"] for line in out.getvalue().splitlines()]


def with_two(keys: Any) -> bool:
    return {"build", "deploy"} <= set(keys)


PYTHON = {
    "list": lambda memory: with_two(one.key for one in memory.list(scope=SHOP).memories),
    "recall": lambda memory: memory.recall("Turborepo", scope=SHOP).hits[0].memory.key == "build",
    "show": lambda memory: memory.show("build", scope=SHOP).content == "pnpm and Turborepo",
    "history": lambda memory: memory.history("build", scope=SHOP)[0].memory.key == "build",
    "export": lambda memory: with_two(export_keys(memory)),
    "resume": lambda memory: with_two(one.key for one in memory.resume(scope=SHOP).project),
    "remember": lambda memory: memory.remember("a third", key="third", scope=SHOP).memory.key == "third",
    "revise": lambda memory: memory.revise("build", scope=SHOP, content="pnpm").content == "pnpm",
    "forget": lambda memory: memory.forget("build", scope=SHOP).state is State.FORGOTTEN,
}
STORED = {
    "remember": lambda memory: memory.show("third", scope=SHOP).content == "a third",
    "revise": lambda memory: memory.show("build", scope=SHOP).content == "pnpm",
    "forget": lambda memory: "build" not in {one.key for one in memory.list(scope=SHOP).memories},
}


@contextmanager
def catch_reports() -> Iterator[list[str]]:
    """What Python's warnings say meanwhile."""
    reports: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield reports
    reports += [str(one.message) for one in caught]


@pytest.mark.parametrize("verb", PYTHON)
@pytest.mark.parametrize("name", CASES)
def test_in_python_every_verb_works_and_the_trouble_is_one_warning(prepare_case, open_memory, name, verb):
    case = CASES[name]
    memory = open_memory(prepare_case(case), clock=now)
    with catch_reports() as reports:
        assert PYTHON[verb](memory)
        for stored in (STORED[verb],) if verb in STORED else (PYTHON[verb],) * 2:
            assert stored(memory)
        memory.list(scope=SHOP)
    check_told_once(reports, case, adds=verb == "remember")


# the command line


CLI: dict[str, tuple[list[str], Callable[[str], bool]]] = {
    "list": (["list"], lambda out: "build" in out and "deploy" in out),
    "recall": (["recall", "Turborepo"], lambda out: "build" in out),
    "show": (["show", "build"], lambda out: "pnpm and Turborepo" in out),
    "history": (["history", "build"], lambda out: "pnpm and Turborepo" in out),
    "export": (["export", "--format", "jsonl"], lambda out: '"build"' in out and '"deploy"' in out),
    "remember": (["remember", "a third", "--key", "third", "--json"], lambda out: json.loads(out)["action"] == "created"),
    "revise": (["revise", "build", "pnpm"], lambda out: "build" in out),
    "forget": (["forget", "build"], lambda out: "build" in out),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMOIDE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("OMOIDE_PROJECT", "shop")

    def run(*arguments: str) -> tuple[int, str, list[str]]:
        done = CliRunner().invoke(cli, list(arguments), prog_name="omoide")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout, done.stderr.splitlines()

    return run


@pytest.mark.parametrize("verb", CLI)
@pytest.mark.parametrize("name", CASES)
def test_on_the_command_line_every_verb_works_and_the_trouble_is_one_line(prepare_case, open_memory, run, name, verb):
    case = CASES[name]
    path = prepare_case(case)
    arguments, right = CLI[verb]
    code, out, errors = run(*arguments)
    assert code == 0
    assert right(out)
    check_told_once(errors, case, adds=verb == "remember")
    with catch_reports():
        assert verb not in STORED or STORED[verb](open_memory(path))


@pytest.mark.parametrize("name", CASES)
def test_doctor_status_and_sync_show_the_trouble(prepare_case, run, name):
    case = CASES[name]
    prepare_case(case)
    # Only a verb that adds an entry reports a root that is gone: its disk may not be mounted. Whoever asks is told.
    expected = "notes is gone" if name == "a root that is gone" else case.said
    code, out, errors = run("doctor", "--json")
    found = json.loads(out)
    shown = [check["what"] for check in found["checks"] if "mirror 1: " in check["what"]]
    assert (code, found["healthy"]) == ((0, True) if expected is None else (1, False))
    assert len(shown) == 1
    assert (expected or "in sync with project shop") in shown[0]
    assert errors == []
    code, out, _ = run("doctor")
    assert (expected or "in sync with project shop") in out
    code, out, _ = run("mirror", "status", "--json")
    (status,) = json.loads(out)["mirrors"]
    assert code == 0
    assert [expected in trouble for trouble in status["troubles"]] == ([] if expected is None else [True])
    code, out, errors = run("mirror", "sync")
    assert code == (0 if expected is None else 1)
    check_told_once(errors, case._replace(said=expected), adds=False)


def test_a_mirror_that_cannot_be_reached_leaves_the_others_their_status(prepare_case, open_memory, run, tmp_path):
    path = prepare_case(CASES["a file in place of the root"])
    with open_memory(path, clock=now) as memory, catch_reports():
        memory.mirror(tmp_path / "other.md", scope=SHOP)
    assert run("mirror", "sync")[0] == 1
    assert "pnpm" in (tmp_path / "other.md").read_text()
    _, out, errors = run("mirror", "status")
    assert "other.md" in out
    assert len(errors) == 1


def test_a_place_whose_name_is_not_utf8_is_refused(run, tmp_path):
    place = os.fsdecode(os.fsencode(tmp_path) + b"/\x83\x81")
    Path(place).mkdir()
    code, _, errors = run("mirror", "add", place, "--format", "entries")
    assert code == 2
    assert r"\x83\x81 is not UTF-8: rename it, or choose another place" in errors[0]
    assert json.loads(run("mirror", "list", "--json")[1])["mirrors"] == []


# MCP


MCP: dict[str, tuple[dict[str, Any], Callable[[Any], bool]]] = {
    "list": ({}, lambda given: len(given["memories"]) >= 2),
    "show": ({"id": "build"}, lambda given: "pnpm and Turborepo" in json.dumps(given)),
    "history": ({"id": "build"}, lambda given: "pnpm and Turborepo" in json.dumps(given)),
    "recall": ({"query": "Turborepo"}, lambda given: given["memories"][0]["key"] == "build"),
    "resume": ({}, lambda given: len(given["project"]) >= 2),
    "remember": ({"content": "a third", "key": "third"}, lambda given: given["action"] == "created"),
    "revise": ({"id": "build", "content": "pnpm"}, lambda given: True),
    "forget": ({"id": "build"}, lambda given: True),
}


def conversation(calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[Any], list[str]]:
    """What tools of one server answer, and what it writes to standard error."""
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        for n, (tool, arguments) in enumerate(calls)
    ]
    done = subprocess.run(
        [*PROGRAM, "mcp", "--tools", "all"], input="\n".join([*lines, ""]).encode(), capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    answers = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda answer: answer["id"])
    return [answer["result"] for answer in answers], done.stderr.decode().splitlines()


@pytest.mark.parametrize("name", CASES)
def test_over_mcp_every_tool_works_and_the_trouble_is_one_line_of_the_log(prepare_case, run, name):
    case = CASES[name]
    prepare_case(case)
    results, errors = conversation([(tool, arguments) for tool, (arguments, _) in MCP.items()] * 2)
    for (tool, (_, right)), result in zip(MCP.items(), results[: len(MCP)], strict=True):
        assert not result["isError"], (tool, result)
        assert right(result["structuredContent"]), (tool, result)
    check_told_once([line.removeprefix("omoide: ") for line in errors], case, adds=True)


# the others of the mirror go on


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kind == "entries" and "root" not in name])
def test_the_other_files_of_the_directory_stay_in_sync(prepare_case, open_memory, root, name):
    path = prepare_case(CASES[name])
    before = {file.name for file in root.iterdir()}
    with catch_reports():
        memory = open_memory(path)
        memory.remember("by an agent", key="agent", scope=SHOP)
        (root / "deploy.md").write_text((root / "deploy.md").read_text().replace("Fridays", "Mondays"))
        (root / "person.md").write_text("by a person\n")
        kept = {one.key: one.content for one in memory.list(scope=SHOP).memories}
    assert kept["deploy"] == "Never on Mondays"
    assert kept["person"] == "by a person"
    assert "by an agent" in (root / "agent.md").read_text()
    assert {file.name for file in root.iterdir()} == before | {"person.md", "agent.md"}


def test_a_directory_that_cannot_be_listed_deletes_nothing(open_memory, tmp_path, root):
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(root, "entries", scope=SHOP)
    memory.remember("old", key="old", scope=SHOP)
    memory.archive("old", scope=SHOP)
    (root / "archive").rename(tmp_path / "aside")
    archive_is_a_file(root)
    with catch_reports() as reports:
        assert memory.list(scope=SHOP, states=[State.ARCHIVED]).total == 1
        memory.remember("new", key="new", scope=SHOP)
        memory.archive("new", scope=SHOP)
        assert memory.list(scope=SHOP, states=[State.ARCHIVED]).total == 2
    assert all("archive" in report for report in reports)
    (root / "archive").unlink()
    (tmp_path / "aside").rename(root / "archive")
    assert memory.list(scope=SHOP, states=[State.ARCHIVED]).total == 2
    assert memory.list(scope=SHOP).total == 0
    memory.restore("old", scope=SHOP)
    assert {str(file.relative_to(root)) for file in root.rglob("*.md")} == {"old.md", "archive/new.md"}


def test_a_repaired_trouble_is_reported_again_when_it_comes_back(prepare_case, open_memory, root):
    path = prepare_case(CASES["a name that is not UTF-8"])
    (bad,) = (file for file in root.iterdir() if "\\x83" in escape(file.name))
    memory = open_memory(path)
    for _ in range(2):
        with catch_reports() as reports:
            memory.list(scope=SHOP)
            memory.list(scope=SHOP)
        assert len(reports) == 1
        moved = bad.rename(root.parent / "aside")
        with catch_reports() as reports:
            memory.list(scope=SHOP)
        assert reports == []
        moved.rename(bad)
    bad.rename(root / "renamed.md")
    assert memory.show("renamed", scope=SHOP).content == "of a Windows zip"


# rights, a disk that is full, files that vanish, and bugs


@pytest.mark.parametrize("kind", ["memories", "entries", "tree", "block"])
@pytest.mark.parametrize("closed", ["the root", "above the root"])
def test_a_directory_without_permission_fails_no_verb(public_path, without_rights, open_memory, kind, closed):
    root = public_path / "above" / "notes"
    root.mkdir(parents=True)
    store = public_path / "store"
    store.mkdir()
    with open_memory(store / "memory.db", clock=now) as memory:
        memory.mirror(target(root, kind), kind, scope=SHOP)
        memory.remember("pnpm and Turborepo", key="build", scope=SHOP)
    for path in (store, *store.iterdir()):
        path.chmod(0o777)
    (root if closed == "the root" else root.parent).chmod(0)

    def verbs() -> list[Any]:
        with catch_reports() as reports, omoide.open(store / "memory.db") as memory:
            memory.remember("a third", key="third", scope=SHOP)
            kept = sorted(one.key for one in memory.list(scope=SHOP).memories)
        return [kept, reports]

    kept, reports = without_rights(verbs)
    assert kept == ["build", "third"]
    assert len(reports) == 1
    assert str(root) in reports[0]


def test_a_purge_names_every_place_of_copies_that_cannot_be_read(public_path, without_rights, open_memory):
    mine = public_path / "mine"
    old = mine / "list" / ".omoide-backups" / "old"
    old.mkdir(parents=True)
    (mine / "usb").mkdir()
    with open_memory(mine / "memory.db", clock=now) as memory:
        memory.create_project("shop")
        first, second = (memory.remember(text, scope=SHOP).memory for text in ("the merger", "the date of the merger"))
        memory.mirror(mine / "list" / "memories.md", "memories", scope=SHOP)
        memory.list(scope=SHOP)
        (old / "memories.md.1").write_bytes((mine / "list" / "memories.md").read_bytes())
        memory.backup(mine / "usb" / "copy.db")
        memory.reindex(archive=True)
        back_up_project(memory, SHOP, None, 5)
        for one in (first, second):
            memory.forget(one.number, scope=SHOP)
        assert len(memory.purge([first.number], scope=SHOP, everywhere=True).copies) == 4
    for path in (mine, *mine.rglob("*")):
        path.chmod(0o777)
    closed = [old, mine / "usb", mine / "archive", mine / "backups" / "shop"]
    for directory in closed:
        directory.chmod(0)

    def purge() -> list[tuple[str, str, str]]:
        with omoide.open(mine / "memory.db") as memory:
            report = memory.purge([second.number], scope=SHOP, everywhere=True)
        return [(copy.path, copy.state, copy.reason) for copy in report.copies]

    found = {path: (state, reason) for path, state, reason in without_rights(purge)}
    for place in (old, mine / "usb" / "copy.db", mine / "archive", mine / "backups" / "shop"):
        assert found[str(place)] == ("unreadable", "Permission denied")


@contextmanager
def no_room() -> Iterator[None]:
    """No file may grow beyond ROOM bytes, as on a disk that is almost full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", ["memories", "block"])
def test_a_full_disk_under_the_files_does_not_fail_a_write(open_memory, tmp_path, root, kind):
    file = target(root, kind)
    file.write_text("# Mine\n\n" + "x" * (ROOM - 100) + "\n")
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, kind, scope=SHOP)
    before = file.read_text()
    with no_room(), catch_reports() as reports:
        for n in range(3):
            assert memory.remember(f"text {n} {'y' * 100}", scope=SHOP).action == "created"
        assert memory.list(scope=SHOP).total == 3
    assert [f"{file} cannot be written: the disk is full, make room and try again"] == reports
    assert file.read_text() == before
    memory.remember("and there is room again", scope=SHOP)
    assert all(f"text {n} " in file.read_text() for n in range(3))


def test_a_file_that_vanishes_between_the_listing_and_the_reading_is_no_trouble(
    prepare_case, open_memory, root, monkeypatch
):
    """`open` finds nothing where the directory has just shown a file."""
    path = prepare_case(Case("entries", lambda root: (root / "short.md").write_text("short\n"), None))
    memory = open_memory(path)
    opened = os.open

    def vanishing(name: Any, *arguments: Any, **options: Any) -> int:
        if name == "short.md":
            with suppress(FileNotFoundError):
                (root / "short.md").unlink()
        return opened(name, *arguments, **options)

    monkeypatch.setattr(os, "open", vanishing)
    assert with_two(one.key for one in memory.list(scope=SHOP).memories)
    assert memory.list(scope=SHOP).total == 2


@pytest.mark.parametrize("error", [TypeError("a bug"), AssertionError("a bug"), OSError(5, "a bug"), ValueError("a bug")])
def test_a_bug_in_the_sync_is_logged_and_fails_no_verb(prepare_case, open_memory, monkeypatch, caplog, error):
    path = prepare_case(Case("entries", lambda root: None, None))
    memory = open_memory(path)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(SyncRun, "_finish", fail)
    with catch_reports() as reports:
        for n in range(3):
            assert memory.remember(f"text {n}", scope=SHOP).action == "created"
        assert memory.list(scope=SHOP).total == 5
    assert len(reports) == 1
    assert "notes cannot be synced" in reports[0]
    assert "a bug" in reports[0]
    assert len([record for record in caplog.records if record.exc_info]) == (0 if isinstance(error, OSError) else 1)
    monkeypatch.undo()
    memory.list(scope=SHOP)


def test_an_operation_succeeds_where_its_report_cannot_be_written(prepare_case, open_memory, caplog):
    path = prepare_case(CASES["a name that is not UTF-8"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # who turns warnings into errors still gets answers
        assert open_memory(path).remember("a third", scope=SHOP).action == "created"
    assert [r"\x83\x81.md: its name is not UTF-8" in record.message for record in caplog.records] == [True]
    caplog.clear()


def test_a_closed_standard_error_fails_no_verb(prepare_case, run):
    prepare_case(CASES["a name that is not UTF-8"])
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*PROGRAM, "list"], stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    assert done.returncode == 0
    assert b"build" in done.stdout


# dates and names as such


@pytest.mark.parametrize(
    ("mtime_ns", "year"), [(1 << 80, 9999), (-(1 << 80), 1), (10**20, 5138), (0, 1970), (-(10**18), 1938)]
)
def test_every_date_of_a_file_is_converted_to_a_datetime(mtime_ns, year):
    assert FileText("", Stat(mtime_ns, 0, 0), []).saved_at.year == year


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 日本語 🏳️‍🌈", "plain 日本語 🏳️‍🌈"),
        ("a\nb\r\x1b[31m\x85", r"a\nb\r\x1b[31m\x85"),
        ("\udc83\udc81.md", r"\x83\x81.md"),
        ("\ud800\u2028\u202e", r"\ud800\u2028\u202e"),
    ],
)
def test_control_characters_in_names_are_escaped(text, shown):
    assert escape(text) == shown
    assert escape(shown) == shown
