"""What the children of the fault tests do: `python workers.py <what> <path> …`."""

# ruff: noqa: T201 - a child speaks through its pipe

import itertools
import os
import resource
import signal
import sys
from pathlib import Path

import omoide
from omoide.errors import Changed, OmoideError
from omoide.files.directory import Directory
from omoide.storage.sqlite.store import SqliteStore

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


def append_lines(root: str, name: str, times: str) -> None:
    """Adds lines to a file that others write at the same time."""
    place = Directory(Path(root))
    ready()
    for n in range(int(times)):
        append(place, f"{name} {n}\n")


def append(place: Directory, line: str) -> None:
    while True:
        text, seen = place.read("shared.md") or ("", None)
        try:
            place.write("shared.md", text + line, seen)
        except Changed:
            continue
        return


def rewrite_for_ever(root: str) -> None:
    """Replaces a file by a longer and a shorter text in turn, until somebody kills the process."""
    place = Directory(Path(root))
    for n in itertools.count():
        _, seen = place.read("a.md") or ("", None)
        place.write("a.md", f"begin {n}\n" + "x\n" * (n % 2 * 50_000) + "end\n", seen)
        print(n, flush=True)


def die_at(root: str, event: str, time: str) -> None:
    """Writes a new file and replaces another, until it dies right before one of these steps."""
    happened = []

    def hook(happening: str, arguments: tuple[object, ...]) -> None:
        if happening == event and ".omoide-" in str(arguments[0]):
            happened.append(happening)
            if len(happened) == int(time):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    place = Directory(Path(root))
    place.write("b.md", "new", None)
    _, seen = place.read("a.md") or ("", None)
    place.write("a.md", "after", seen)


def hold_lock(root: str) -> None:
    with Directory(Path(root)).lock():
        ready()


def write_more_than_fits(root: str) -> None:
    """As on a full disk: no file may have more than 1,000 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
    place = Directory(Path(root))
    _, seen = place.read("a.md") or ("", None)
    for name, known in (("a.md", seen), ("b.md", None)):
        try:
            place.write(name, "x" * 10_000, known)
        except OmoideError as error:
            print(type(error).__name__, error)


def reindex(path: str) -> None:
    """Says each step, so that somebody can kill the process there; `done` at the end."""
    with omoide.open(path) as memory:
        ready()
        memory.reindex(archive=True, watch=lambda step, *_: print(step, flush=True))
        print("done", flush=True)


def reindex_and_die(path: str, when: str) -> None:
    """Dies right before or right after the transaction in which its reindex takes effect."""
    with omoide.open(path) as memory:
        rebuild = memory._store.rebuild

        def dying(*arguments: object, **options: object) -> None:
            if when == "after":
                rebuild(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)

        memory._store.rebuild = dying
        memory.reindex(archive=True)


def reindex_until(path: str, statement: str) -> None:
    """Dies right before this statement of its reindex; says how many there were if it does not."""
    passed = []

    def trace(*_: object) -> bool:
        passed.append(None)
        if len(passed) == int(statement):
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watch(*_: object) -> None:
        if not passed:
            memory._store._connection.exec_trace = trace

    with omoide.open(path, embedder="bundled", retire="manual") as memory:
        memory.reindex(watch=watch)
        print(len(passed), flush=True)


def summarize_until(path: str, kind: str, step: str, undo: str) -> None:
    """Dies right before this statement, or this change of a file, of a summary or of its undo; says how many there were if
    it does not."""
    passed: list[None] = []
    counting = []

    def count(*_: object) -> bool:
        if counting:
            passed.append(None)
            if len(passed) == int(step):
                os.kill(os.getpid(), signal.SIGKILL)
        return True

    def hook(happening: str, arguments: tuple[object, ...]) -> None:
        is_change = happening in ("os.rename", "os.remove", "os.link", "os.mkdir") or (
            happening == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if is_change:
            count()

    with omoide.open(path, retire="manual", embedder="off") as memory:
        if kind == "statement":
            memory._store._connection.exec_trace = count
        else:
            sys.addaudithook(hook)
        counting.append(None)
        if undo:
            memory.undo_summary(scope=SHOP)
        else:
            assert memory.summarize(scope=SHOP, force=True).success
        counting.clear()
        print(len(passed), flush=True)


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
        "append_lines": append_lines,
        "rewrite_for_ever": rewrite_for_ever,
        "die_at": die_at,
        "hold_lock": hold_lock,
        "write_more_than_fits": write_more_than_fits,
        "reindex": reindex,
        "reindex_until": reindex_until,
        "reindex_and_die": reindex_and_die,
        "embed": embed,
        "summarize_until": summarize_until,
    }[what](*arguments)
