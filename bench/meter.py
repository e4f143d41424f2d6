"""What the meter makes of scripted sessions: how often it recognises that a memory was used, ignored or contradicted.

The sessions in `bench/meter_sessions` were written by people who had not seen the rules, half of them in Japanese. Rules and
weights were changed with `dev.json`, `test.json`, `test2.json`, `dev3.json` and `dev4.json` in view; of the last three 60 of
87, 54 of 124 and 176 of 249 memories were judged right when they were scored first. `test3.json`, in the freest words, and
`test4.json` and `test5.json`, in the words of everyday notes, were judged when the rules were finished. `--fit` prints
weights for `omoide.lifecycle.use_evidence`, fitted on the others, and what they are worth on sessions left out.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

from omoide import MemoryUse
from omoide.lifecycle.agent_work import AgentWork
from omoide.lifecycle.memory_use import judge_use

SESSIONS = Path(__file__).parent / "meter_sessions"
SETS = {
    "dev": "dev (tuned on)",
    "test": "test (tuned on)",
    "test2": "test2 (60 of 87 unseen)",
    "dev3": "dev3 (54 of 124 unseen)",
    "dev4": "dev4 (176 of 249 unseen)",
    "test3": "test3 (unseen)",
    "test4": "test4 (unseen)",
    "test5": "test5 (unseen)",
}
UNSEEN = ("test3", "test4", "test5")


class Session(msgspec.Struct, frozen=True):
    """What an agent was asked, said and did, and what it made of each memory."""

    prompt: str
    answer: str
    commands: list[str]
    files: dict[str, str]
    memories: dict[str, MemoryUse]


def read_sessions(name: str) -> list[Session]:
    """Return the sessions of a set."""
    return msgspec.json.decode((SESSIONS / f"{name}.json").read_bytes(), type=list[Session])


def work_of(session: Session) -> AgentWork:
    """Return what the agent did in a session."""
    changes, commands = "\n".join(session.files.values()), "\n".join(session.commands)
    return AgentWork(session.prompt, session.answer, changes, commands, list(session.files))


class Judged(NamedTuple):
    """A memory in a session: whether the agent used it, and what the meter says."""

    use: MemoryUse
    judged: MemoryUse
    is_clear: bool

    @property
    def is_right(self) -> bool:
        return self.use is self.judged


def judge_sessions(sessions: list[Session]) -> list[Judged]:
    """Return what the meter says of each memory."""
    found = []
    for session in sessions:
        work = work_of(session)
        judgements = [(use, judge_use(memory, work)) for memory, use in session.memories.items()]
        found += [Judged(use, judged.use, judged.is_clear) for use, judged in judgements]
    return found


def main() -> None:
    if "--fit" in sys.argv[1:]:
        from bench.meter_fit import print_fit  # lazy: loads numpy

        print_fit([name for name in SETS if name not in UNSEEN])
        return
    print("\n### The meter: memories in scripted sessions\n")
    print(
        "| sessions | right | of those used | ignored | contradicted | judged contradicted | clear | clear: contradicted |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    missing = [file for file in SETS if not (SESSIONS / f"{file}.json").exists()]
    for file, name in SETS.items():
        if file not in missing:
            _print_row(name, judge_sessions(read_sessions(file)))
    for file in missing:
        print(f"\n{file}: no sessions in {SESSIONS.name}/{file}.json, skipped")


def _print_row(name: str, found: list[Judged]) -> None:
    clear = [one for one in found if one.is_clear]
    cells = [
        f"{_right(found)} ({_share_right(found)})",
        *(_right([one for one in found if one.use is use]) for use in MemoryUse),
        f"{_right([one for one in found if one.judged is MemoryUse.CONTRADICTED])} right",
        f"{len(clear) / len(found):.0%}, {_share_right(clear)} right",
        f"{_right([one for one in clear if one.judged is MemoryUse.CONTRADICTED])} right",
    ]
    print(f"| {name} | {' | '.join(cells)} |")


def _right(found: list[Judged]) -> str:
    return f"{sum(one.is_right for one in found)} of {len(found)}"


def _share_right(found: list[Judged]) -> str:
    return f"{sum(one.is_right for one in found) / max(1, len(found)):.0%}"


if __name__ == "__main__":
    main()
