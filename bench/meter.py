"""What the meter makes of scripted sessions: how often it recognises that a memory was used, ignored or contradicted.

The sessions in `bench/meter_sessions` were written by people who had not seen the rules, half of them in Japanese.
`dev.json` and `test.json` were in view when the rules were changed. `test2.json` was written after that, in freer words: 60
of its 87 memories were judged right when it was scored first; five patterns were added with it in view. `dev3.json` is
freer still: 54 of its 124 memories were judged right at first. `test3.json` is for sessions that nobody who changes the
rules has seen; where it is missing, it is skipped. `--fit` prints weights for `omoide.lifecycle.use_evidence`, fitted on
all sets but that one, and what they are worth on a set that they were not fitted on.
"""

import sys
from collections import Counter
from pathlib import Path

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
    "test3": "test3 (unseen)",
}


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


def count_uses(sessions: list[Session]) -> Counter[tuple[MemoryUse, MemoryUse]]:
    """Return how often each use was judged as each."""
    found: Counter[tuple[MemoryUse, MemoryUse]] = Counter()
    for session in sessions:
        work = work_of(session)
        found.update((use, judge_use(memory, work).use) for memory, use in session.memories.items())
    return found


def main() -> None:
    if "--fit" in sys.argv[1:]:
        from bench.meter_fit import print_fit  # lazy: loads numpy

        print_fit([name for name in SETS if not name.startswith("test3")])
        return
    print("\n### The meter: memories in scripted sessions\n")
    print(
        "| sessions | right | of those used | of those ignored | of those contradicted | judged used | judged contradicted |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    missing = [file for file in SETS if not (SESSIONS / f"{file}.json").exists()]
    for file, name in SETS.items():
        if file in missing:
            continue
        found = count_uses(read_sessions(file))
        right = sum(count for (use, judged), count in found.items() if use is judged)
        cells = [f"{right} of {found.total()} ({right / found.total():.0%})"]
        for use in MemoryUse:
            total = sum(count for (expected, _), count in found.items() if expected is use)
            cells.append(f"{found[use, use]} of {total}")
        for use in (MemoryUse.USED, MemoryUse.CONTRADICTED):
            judged = sum(count for (_, judgement), count in found.items() if judgement is use)
            cells.append(f"{found[use, use]} of {judged} right")
        print(f"| {name} | {' | '.join(cells)} |")
    for file in missing:
        print(f"\n{file}: no sessions in {SESSIONS.name}/{file}.json, skipped")


if __name__ == "__main__":
    main()
