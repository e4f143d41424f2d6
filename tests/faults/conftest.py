"""The means to break things: a disk that loses power, children that are killed, a user without rights."""

# ruff: noqa: N802 - SQLite gave the methods of a file system their names

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from omoide.storage.sqlite.store import MIGRATIONS

_NOBODY = 65534
_SECTOR = 512


class Platter:
    """One file: its bytes as programs see them, and what was written but not yet synced, in order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen = bytearray(path.read_bytes())
        self.unsynced: list[tuple[int, bytes | None]] = []
        """An offset with bytes, or a new size with None."""

    def write(self, offset: int, data: bytes | None) -> None:
        _apply(self.seen, offset, data)
        self.unsynced.append((offset, data))

    def sync(self) -> None:
        self.path.write_bytes(self.seen)
        self.unsynced.clear()

    def after_a_cut(self, chance: random.Random) -> bytes:
        """What is on the disk when the power goes now: all that was synced, and of the rest anything, in pieces."""
        left = bytearray(self.path.read_bytes())
        share = chance.choice((0.0, 0.5, 0.9, 1.0))
        for offset, data in self.unsynced:
            if data is None:
                if chance.random() < share:
                    _apply(left, offset, None)
                continue
            for start in range(0, len(data), _SECTOR):
                if chance.random() < share:
                    _apply(left, offset + start, data[start : start + _SECTOR])
        return bytes(left)


def _apply(raw: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del raw[offset:]
    raw.extend(bytes(max(0, offset - len(raw))))
    if data is not None:
        raw[offset : offset + len(data)] = data


class PowerFile(apsw.VFSFile):
    def __init__(self, disk: "PowerDisk", name: apsw.URIFilename | str, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        path = Path(name if isinstance(name, str) else name.filename())
        self._platter = disk.platters.setdefault(path.name, Platter(path))

    def xRead(self, amount: int, offset: int) -> bytes:
        return bytes(self._platter.seen[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.before(grows=offset + len(data) - len(self._platter.seen))
        self._platter.write(offset, bytes(data))

    def xTruncate(self, size: int) -> None:
        self._disk.before()
        self._platter.write(size, None)

    def xSync(self, flags: int) -> None:
        self._disk.before()
        self._platter.sync()

    def xFileSize(self) -> int:
        return len(self._platter.seen)


class PowerDisk(apsw.VFS):
    """A file system that keeps only what was synced, and can be full: on the real disk is what would be left."""

    def __init__(self) -> None:
        super().__init__("power", "unix")
        self.platters: dict[str, Platter] = {}
        self.connections: list[apsw.Connection] = []
        self.watch: Callable[[], None] = lambda: None
        """Called before every write, truncation, sync and deletion."""
        self.room: int | None = None
        """How many bytes files may still grow; None for no limit."""

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:
        if name is None:  # a temporary file, of which nothing need be left
            return apsw.VFSFile("unix", None, flags)
        return PowerFile(self, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self.before()
        self.platters.pop(Path(name).name, None)
        super().xDelete(name, sync)

    def before(self, grows: int = 0) -> None:
        self.watch()
        if self.room is not None and grows > 0:
            if grows > self.room:
                raise apsw.FullError("no room")
            self.room -= grows

    def cut(self, into: Path, chance: random.Random) -> Path:
        """The files as they are left when the power goes now, in another directory."""
        into.mkdir()
        for platter in self.platters.values():
            if not platter.path.exists():  # deleted, and not by SQLite
                continue
            left = into / platter.path.name
            left.touch(0o600)
            left.write_bytes(platter.after_a_cut(chance))
        return into


@pytest.fixture
def disk() -> Iterator[PowerDisk]:
    """The disk that every database opened in this test lies on, until `ordinary_disk` is called or the test ends."""
    disk = PowerDisk()

    def prepare(connection: apsw.Connection) -> None:
        if connection.open_vfs == "power":
            disk.connections.append(connection)
            # A file system made in Python has no shared memory: alone, SQLite keeps the index of its log on the heap.
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")

    apsw.connection_hooks.append(prepare)
    apsw.set_default_vfs("power")
    yield disk
    apsw.set_default_vfs("unix")
    apsw.connection_hooks.remove(prepare)
    disk.unregister()


@pytest.fixture
def ordinary_disk() -> Callable[[], None]:
    return lambda: apsw.set_default_vfs("unix")


class NextSchema:
    """The present steps and one more, which takes its time and says afterwards whether all of it was done."""

    def __init__(self, directory: Path) -> None:
        self.steps = directory
        present = sorted(MIGRATIONS.glob("*.sql"))
        directory.mkdir()
        for step in present:
            shutil.copy(step, directory)
        self._number = len(present) + 1
        (directory / f"9{self._number:03}_next.sql").write_text(
            "CREATE TABLE extra (n INTEGER PRIMARY KEY, filler TEXT NOT NULL) STRICT;\n"
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5000)\n"
            "INSERT INTO extra SELECT n, hex(zeroblob(100)) FROM t;\n"
            "SELECT 'a statement that answers with a row';\n"
            "ALTER TABLE memories ADD COLUMN more TEXT;\n"
        )

    def of(self, path: Path) -> str:
        """Which schema a database has: old, new, or neither."""
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        version = connection.pragma("user_version")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
        columns = {row[1] for row in connection.execute("PRAGMA table_info(memories)")}
        rows = connection.execute("SELECT count(*) FROM extra").get if "extra" in tables else 0
        connection.close()
        found = (version, rows, "more" in columns)
        return {(self._number - 1, 0, False): "old", (self._number, 5000, True): "new"}.get(found, f"neither: {found}")


@pytest.fixture
def next_schema(tmp_path: Path) -> NextSchema:
    return NextSchema(tmp_path / "steps")


@pytest.fixture
def child() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `workers.py <what> …` as a process; all of them are gone when the test ends."""
    children: list[subprocess.Popen[str]] = []

    def start(what: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("workers.py")
        command = [sys.executable, str(script), what, *map(str, arguments)]
        pipe = subprocess.PIPE
        children.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options))
        return children[-1]

    yield start
    for process in children:
        process.kill()
        process.communicate()


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A directory that any user may enter, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="omoide-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def without_rights() -> Callable[[Callable[[], Any]], Any]:
    """Runs a function in a forked child that is not root, and answers what it returned, as JSON carries it."""

    def run(function: Callable[[], Any]) -> Any:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reading)
                if os.geteuid() == 0:
                    os.setgid(_NOBODY)
                    os.setuid(_NOBODY)
                with os.fdopen(writing, "w") as out:
                    json.dump(function(), out)
            finally:
                os._exit(0)  # whatever happened: no second pytest goes on here
        os.close(writing)
        with os.fdopen(reading) as answer:
            text = answer.read()
        os.waitpid(pid, 0)
        return json.loads(text)

    return run
