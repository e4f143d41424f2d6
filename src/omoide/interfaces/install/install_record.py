"""The record of what was installed where, and the copies of the files as they were before."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from omoide import model
from omoide.errors import Unreadable
from omoide.files import atomic
from omoide.interfaces.install import settings_file
from omoide.user_directories import data_directory

_KEPT = 5
"""How many backups of one file are kept."""


class InstalledFile(msgspec.Struct, frozen=True):
    """A file that omoide wrote entries into."""

    clients: tuple[str, ...]
    """Whose entries they are: two clients may read one file."""
    before: str | None
    """The copy of the file without omoide, in the directory of the record; None: there was no file."""
    before_digest: str
    after_digest: str
    """The file as omoide wrote it."""
    entries: tuple[str, ...] = ()
    """The entries that omoide wrote, as JSON."""


class _Contents(msgspec.Struct, frozen=True):
    files: dict[str, InstalledFile] = {}
    directories: tuple[str, ...] = ()
    """The directories that omoide made for these files."""


class InstallRecord:
    """The record in omoide's data directory. Uninstalling works without it, by recognising the entries."""

    def __init__(self, directory: Path | None = None):
        self.directory = directory or data_directory() / "clients"
        self._file = self.directory / "installed.json"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let one process at a time install or uninstall."""
        with atomic.write_errors(self.directory):
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.name == "posix":
                import fcntl  # lazy: not on Windows

                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def files(self) -> dict[str, InstalledFile]:
        """Return what is recorded, by path; nothing if the record is lost or damaged."""
        return dict(self._contents().files)

    def put(self, path: Path, installed: InstalledFile, directories: Iterable[Path] = ()) -> None:
        """Record a file, and the directories that are made for it."""
        contents = self._contents()
        files = {**contents.files, str(path): installed}
        self._save(_Contents(files, tuple(dict.fromkeys([*contents.directories, *map(str, directories)]))))

    def drop(self, path: Path) -> None:
        """Remove a file from the record, and remove the directories that omoide made and that are empty now."""
        contents = self._contents()
        files = {name: installed for name, installed in contents.files.items() if name != str(path)}
        left = []
        for name in sorted(contents.directories, key=len, reverse=True):
            directory = Path(name)
            try:
                directory.rmdir()
            except OSError:  # fallback: somebody else uses it, or it is gone
                if any(directory in Path(file).parents for file in files):
                    left.append(name)
        self._save(_Contents(files, tuple(left)))

    def _contents(self) -> _Contents:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Contents)
        except (OSError, msgspec.DecodeError):  # fallback: entries are recognised by what they call
            return _Contents()

    def _save(self, contents: _Contents) -> None:
        self._write(self._file.name, msgspec.json.format(msgspec.json.encode(contents), indent=1))
        used = {installed.before for installed in contents.files.values()}
        for copy in self.directory.glob("*.before"):
            if copy.name not in used:
                copy.unlink(missing_ok=True)

    def original(self, installed: InstalledFile) -> bytes | None:
        """Return a file as it was before omoide. Raise Unreadable if there was one and its copy is lost."""
        if installed.before is None:
            return None
        try:
            data = (self.directory / installed.before).read_bytes()
        except OSError as error:
            raise Unreadable(f"{self.directory / installed.before} cannot be read: the copy is lost") from error
        if digest(data) != installed.before_digest:
            raise Unreadable(f"{self.directory / installed.before} was changed: the copy is lost")
        return data

    def keep_original(self, path: Path, data: bytes) -> str:
        """Store a file as it is without omoide; return the name of the copy."""
        name = f"{path.name}.{digest(data)[:12]}.before"
        self._write(name, data)
        return name

    def back_up(self, path: Path, data: bytes) -> Path:
        """Copy a file before it is written; return where. The newest copies of each file are kept."""
        family = f"{path.name}.{digest(str(path).encode())[:8]}"
        name = f"{family}.{model.now():%Y%m%dT%H%M%S%f}.bak"
        self._write(name, data)
        for old in sorted(self.directory.glob(f"{_escape(family)}.*.bak"))[:-_KEPT]:
            old.unlink(missing_ok=True)
        return self.directory / name

    def _write(self, name: str, data: bytes) -> None:
        target = settings_file.read(self.directory / name)
        if target.data != data:
            settings_file.write(target, data, private=True)


def digest(data: bytes) -> str:
    """Return the digest of a file's bytes."""
    return atomic.digest(data).hex()


def _escape(name: str) -> str:
    """Take the characters of a name as they are, not as a pattern."""
    return "".join(f"[{c}]" if c in "[*?" else c for c in name)
