"""What the children of the mirror tests do: agents that write, an editor that saves, `python mirror_workers.py <what> …`."""

# ruff: noqa: T201 - a child speaks through its pipe

import itertools
import random
import re
import sys
import time
from pathlib import Path

import omoide

SHOP = omoide.Scope.project("shop")
_CONTENT = re.compile(r"^- Content: (.*)$", re.MULTILINE)


def agent(path: str, name: str, seconds: str, least: str) -> None:
    """Remembers, revises, forgets and reads; says every text when it is acknowledged. Writes so many texts at least."""
    chance = random.Random(name)
    with omoide.open(path, wait=60) as memory:
        ready()
        ends = time.monotonic() + float(seconds)
        mine = []
        written = 0
        for n in itertools.count():
            if time.monotonic() > ends and written >= int(least):
                break
            text = f"{name} wrote {n}"
            draw = chance.random()
            if draw < 0.4 or not mine:
                mine.append(memory.remember(text, scope=SHOP, topic=f"{name} {n}").memory.number)
                print(text, flush=True)
                written += 1
            elif draw < 0.75:
                memory.revise(chance.choice(mine), scope=SHOP, content=text)
                print(text, flush=True)
                written += 1
            elif draw < 0.85:
                memory.archive(chance.choice(mine), scope=SHOP)
            else:
                memory.recall(name, scope=SHOP)


def editor(place: str, kind: str, name: str, seconds: str, least: str) -> None:
    """A person who is quick: opens a file, changes or adds something, saves; in place or by rename, and never asks.

    Saves so many times at least. Never changes a text of their own again, so that nobody but omoide could have lost it.
    """
    chance = random.Random(name)
    ready()
    ends = time.monotonic() + float(seconds)
    saved = 0
    for n in itertools.count():
        if time.monotonic() > ends and saved >= int(least):
            return
        files = sorted(Path(place).glob("*.md"))
        text = f"{name} typed {n}"
        if not files or (kind == "entries" and chance.random() < 0.3):
            saved += save(
                chance,
                Path(place) / f"{name}-{n}.md" if kind == "entries" else Path(place) / "memories.md",
                text,
                kind,
                new=True,
            )
        else:
            saved += save(chance, chance.choice(files), text, kind)
        time.sleep(chance.uniform(0, 0.06))


def save(chance: random.Random, file: Path, text: str, kind: str, *, new: bool = False) -> bool:
    """Answers whether there was something to save it to."""
    try:
        before = "" if new else file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    after = edit_text(chance, before, text, kind)
    if after is None:
        return False
    if chance.random() < 0.5:
        with file.open("w", encoding="utf-8") as out:
            half = chance.randrange(len(after) + 1)
            out.write(after[:half])
            out.flush()  # two writes, as large files have
            out.write(after[half:])
    else:
        partial = file.with_name(f".{file.name}.swp")
        partial.write_text(after, encoding="utf-8")
        partial.rename(file)
    print(text, flush=True)
    return True


def edit_text(chance: random.Random, before: str, text: str, kind: str) -> str | None:
    if kind == "entries":
        head, mark, body = before.rpartition("---\n")
        return None if "typed" in body else f"{head}{mark}{mark and chr(10)}{text}\n"
    theirs = [found for found in _CONTENT.finditer(before) if "typed" not in found[1]]
    if theirs and chance.random() < 0.5:
        found = chance.choice(theirs)
        return before[: found.start(1)] + text + before[found.end(1) :]
    return f"{before.rstrip() or '# Memories'}\n\n## {text} as a title\n- Content: {text}\n"


def sync_for_ever(path: str, place: str) -> None:
    """Remembers and reads until somebody kills the process, and says what was acknowledged."""
    with omoide.open(path) as memory:
        for n in itertools.count():
            done = memory.remember(f"note {n} of {place}", scope=SHOP, topic=f"{place} {n}")
            print(done.memory.content, flush=True)
            memory.list(scope=SHOP)


def ready() -> None:
    """Waits for the start signal, so that all begin at once."""
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    {"agent": agent, "editor": editor, "sync_for_ever": sync_for_ever}[what](*arguments)
