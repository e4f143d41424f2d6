"""`omoide review` on a terminal: it asks about each proposal, and does what the person answers."""

import os
import pty
import select
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PROGRAM = [sys.executable, "-c", "from omoide.interfaces.start import main; main()"]
TALK = """\
Assistant: We decided to store dates as UTC because the server moved to Ireland.
Assistant: We chose port 9100 for the exporter because 9000 is taken by minio.
Assistant: We decided to use polars rather than pandas because pandas ran out of memory.
Assistant: The staging database listens on port 5544.
"""
EDITOR = "sed -i s/Ireland/Finland/"


@pytest.fixture
def proposals(run: Run, place: Path) -> list[dict[str, Any]]:
    (place / "talk.txt").write_text(TALK)
    run("learn", "talk.txt")
    found: list[dict[str, Any]] = run("review", "--json").data["proposals"]
    assert len(found) == 4
    return found


def review(answers: Sequence[str | Callable[[], object]], **environment: str) -> tuple[int, str]:
    """Answer one question of the review after the other; an answer that is a function is called before the next one."""
    process, terminal = pty.fork()
    if not process:
        os.environ.update(environment)
        os.execvp(PROGRAM[0], [*PROGRAM, "review"])
    left, shown, seen = list(answers), "", 0
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and select.select([terminal], [], [], 60)[0]:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # it has ended
            break
        shown += piece.decode(errors="replace")
        while shown.count("[s]: ") > seen and left:
            seen += 1
            while callable(left[0]):
                left.pop(0)()
            os.write(terminal, f"{left.pop(0)}\n".encode())
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown


def test_each_answer_does_what_it_says(run: Run, proposals: list[dict[str, Any]]) -> None:
    code, shown = review(["e", "k", "?", "d", "n"], EDITOR=EDITOR)
    assert code == 0, shown
    assert "4 of 4" in shown
    assert "2 kept, 2 dropped, 0 proposals left" in shown
    contents = [memory["content"] for memory in run("list", "--type", "learning", "--json").data["memories"]]
    assert sorted(contents) == [
        "We chose port 9100 for the exporter because 9000 is taken by minio.",
        "We decided to store dates as UTC because the server moved to Finland.",
    ]
    assert run("show", "never-learn", "--json").data["tags"] == ["environment"]


def test_what_is_skipped_or_not_reached_stays_a_proposal(run: Run, proposals: list[dict[str, Any]]) -> None:
    code, shown = review(["s", "d", "q"])
    assert code == 0, shown
    assert "0 kept, 1 dropped, 3 proposals left" in shown
    assert len(run("review", "--json").data["proposals"]) == 3


def test_a_proposal_that_cannot_be_kept_does_not_end_the_review(run: Run, proposals: list[dict[str, Any]]) -> None:
    elsewhere = str(proposals[0]["number"])
    code, shown = review([lambda: run("review", "--drop", elsewhere), "k", "e", "k", "q"], EDITOR="sed -i d")
    assert code == 0, shown
    assert f"#{elsewhere} is no proposal" in shown
    assert "the content is empty" in shown
    assert "1 kept, 0 dropped, 2 proposals left" in shown
