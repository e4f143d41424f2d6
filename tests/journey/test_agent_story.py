"""Three sessions of a scripted agent through `omoide run`, in a real repository: what the first learns, the second knows."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from journey.conftest import Done

AGENT = """
import pathlib, sys
prompt = sys.stdin.read()
pathlib.Path("prompts").mkdir(exist_ok=True)
place = len(list(pathlib.Path("prompts").iterdir())) + 1
pathlib.Path(f"prompts/{place}.md").write_text(prompt)
print(f"Assistant: {sys.argv[1]}")
"""


@pytest.fixture
def work(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with an agent in it."""
    monkeypatch.delenv("OMOIDE_PROJECT")
    repository = place / "店 shop"
    repository.mkdir()
    for arguments in (["init", "-q"], ["config", "user.email", "a@b.c"], ["config", "user.name", "A"]):
        subprocess.run(["git", *arguments], cwd=repository, check=True)
    (repository / "agent.py").write_text(AGENT)
    (repository / "api.py").write_text("import requests\n")
    (repository / ".gitignore").write_text("prompts/\n")
    subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
    subprocess.run(["git", "commit", "-qm", "start"], cwd=repository, check=True)
    monkeypatch.chdir(repository)
    return repository


def prompt_of(work: Path, number: int) -> str:
    return (work / "prompts" / f"{number}.md").read_text()


@pytest.mark.parametrize(
    ("first", "correction", "old", "new"),
    [
        (
            "Set up the build. From now on, use pnpm to install packages.",
            "Add a linter. From now on, use yarn instead of pnpm to install packages.",
            "use pnpm to install packages",
            "yarn",
        ),
        (
            "ビルドを設定して。今後はパッケージのインストールに pnpm を使って。",
            "リンタを追加して。今後はパッケージのインストールに pnpm ではなく yarn を使って。",
            "インストールに pnpm を使って",
            "yarn",
        ),
    ],
    ids=["english", "japanese"],
)
def test_the_second_prompt_holds_what_the_first_learnt_and_the_third_what_corrected_it(
    work: Path, omoide: Callable[..., Done], first: str, correction: str, old: str, new: str
) -> None:
    agent = [sys.executable, "agent.py"]
    one = omoide("run", "-m", first, "--session", "monday", "--", *agent, "The build works.")
    assert one.code == 0, one.err
    two = omoide("run", "-m", correction, "--session", "tuesday", "--", *agent, "I switched to yarn.")
    assert two.code == 0, two.err
    three = omoide("run", "-m", "Release it.", "--session", "wednesday", "--", *agent, "Released.")
    assert three.code == 0, three.err

    memories = [prompt_of(work, number).partition("## Memories\n")[2] for number in (1, 2, 3)]
    assert memories[0] == ""
    assert memories[1].count(old) == 1
    assert new in memories[2]
    assert old not in memories[2]  # unless to say that it is not to be used
    lines = [line for line in memories[2].splitlines() if new in line]
    assert len(lines) == 1, memories[2]
    runs = omoide("runs", "--json").data["runs"]
    assert [run["outcome"]["result"] for run in runs] == ["success"] * 3


def test_what_a_person_undoes_of_the_agents_work_twice_is_in_the_prompt_of_the_next_run(
    work: Path, omoide: Callable[..., Done]
) -> None:
    """The person replaces what the agent wrote, twice, after two runs: the third prompt says so."""
    writer = (
        "import pathlib, sys; p = pathlib.Path(sys.argv[1]); sys.stdin.read();"
        "p.write_text('def load(url):\\n    return requests.get(url, timeout=5)\\n'); print('Assistant: done')"
    )
    for name in ("users.py", "orders.py"):
        done = omoide("run", "-m", f"Write {name}.", "--", sys.executable, "-c", writer, name)
        assert done.code == 0, done.err
        (work / name).write_text("def load(url):\n    return session.get(url, timeout=5)\n")
    last = omoide("run", "-m", "Write items.py.", "--", sys.executable, "agent.py", "Done.")
    assert last.code == 0, last.err
    prompt = prompt_of(work, 1)
    assert "session.get" in prompt
    assert "requests.get" in prompt


@pytest.mark.parametrize(
    ("correction", "content"),
    [
        ("No, use pnpm instead of npm. Then add a linter.", "use pnpm instead of npm."),
        ("いや、npm じゃなくて pnpm で。それからリンタを追加して。", "npm じゃなくて pnpm で。"),
    ],
    ids=["english", "japanese"],
)
def test_what_a_person_says_of_the_last_run_in_two_new_sessions_is_in_the_prompt_of_the_next(
    work: Path, omoide: Callable[..., Done], correction: str, content: str
) -> None:
    writer = "import pathlib, sys; sys.stdin.read(); pathlib.Path(sys.argv[1]).write_text('RUN npm ci\\n'); print('done')"

    def run(message: str, session: str, file: str) -> None:
        done = omoide("run", "-m", message, "--session", session, "--", sys.executable, "-c", writer, file)
        assert done.code == 0, done.err

    run("Write the image.", "monday", "Dockerfile")
    run(correction, "tuesday", "Dockerfile.ci")
    (proposal,) = omoide("review", "--json").data["proposals"]
    assert proposal["content"] == content
    assert proposal["tags"] == ["correction", "/Dockerfile"]
    assert "+RUN npm ci" in proposal["examples"][0]
    run(correction, "wednesday", "Dockerfile.test")
    assert omoide("review", "--json").data["proposals"] == []
    done = omoide("run", "-m", "Release it.", "--", sys.executable, "agent.py", "Released.")
    assert done.code == 0, done.err
    assert prompt_of(work, 1).count(content) == 1
