"""What the children of the fault tests do: `python workers.py <what> <path> …`."""

# ruff: noqa: T201 - a child speaks through its pipe

import itertools
import sys
from pathlib import Path

import omoide
from omoide.store.sqlite import SqliteStore

SHOP = omoide.Scope.project("shop")


def write_for_ever(path: str, name: str) -> None:
    """Says each memory's id when it is acknowledged, until somebody kills the process."""
    with omoide.open(path) as memory:
        for n in itertools.count():
            done = memory.remember(f"{name} wrote note {n} " + "and more " * (n % 7 * 100), scope=SHOP)
            if n % 5 == 4:
                memory.revise(done.memory.id, scope=SHOP, content=f"{name} revised note {n}")
            print(done.memory.id, flush=True)


def write(path: str, name: str, times: str) -> None:
    with omoide.open(path) as memory:
        ready()
        for n in range(int(times)):
            memory.remember(f"{name} was here {n}", scope=SHOP, key="shared")
            memory.remember(f"distinct note {n} of {name}", scope=SHOP)


def read(path: str, times: str) -> None:
    with omoide.open(path) as memory:
        ready()
        for _ in range(int(times)):
            page = memory.list(scope=SHOP, limit=1000)
            assert page.total == len(page.memories), page.total
            for hit in memory.recall("distinct note", scope=SHOP).hits:
                assert "distinct note" in hit.memory.content


def open_and_write(path: str, name: str) -> None:
    ready()
    with omoide.open(path) as memory:
        memory.remember(name, scope=SHOP)


def migrate(path: str, steps: str) -> None:
    ready()
    SqliteStore(Path(path), migrations=Path(steps)).close()


def reindex(path: str) -> None:
    """Says each step, so that somebody can kill the process there; `done` at the end."""
    with omoide.open(path) as memory:
        ready()
        memory.reindex(watch=lambda step, *_: print(step, flush=True))
        print("done", flush=True)


def embed(path: str) -> None:
    with omoide.open(path, embedder="bundled") as memory:
        memory.embed_pending(lambda more: print(more, flush=True))


def ready() -> None:
    """Waits for the start signal, so that all begin at once."""
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    {
        "write_for_ever": write_for_ever,
        "write": write,
        "read": read,
        "open_and_write": open_and_write,
        "migrate": migrate,
        "reindex": reindex,
        "embed": embed,
    }[what](*arguments)
