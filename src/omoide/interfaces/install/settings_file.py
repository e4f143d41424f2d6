"""Read a settings file of another program, and replace it in one step unless somebody else changed it meanwhile."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Changed, Unreadable, Unwritable
from omoide.files import atomic

_BOM = b"\xef\xbb\xbf"


class SettingsFile(NamedTuple):
    """A settings file as it was read."""

    path: Path
    """Where it is, behind symbolic links: they stay."""
    data: bytes | None
    """Its bytes; None: there is no such file."""

    @property
    def text(self) -> str:
        """Its text, without the byte order mark. Raise Unreadable if it is not UTF-8."""
        return atomic.text((self.data or b"").removeprefix(_BOM), self.path)

    def encode(self, text: str) -> bytes:
        """Return a new text as bytes, with the byte order mark of this file."""
        return (_BOM if (self.data or b"").startswith(_BOM) else b"") + text.encode()


def read(path: Path) -> SettingsFile:
    """Read a settings file, which need not exist. Raise Unreadable if it cannot be read."""
    try:
        place = path.resolve()
    except (OSError, RuntimeError) as error:
        raise Unreadable(f"{path} cannot be read: its symbolic links lead in a circle: repair or remove it") from error
    try:
        directory = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return SettingsFile(place, None)
    except OSError as error:
        raise Unreadable(f"{place.parent} cannot be read ({(error.strerror or '').lower()}): repair or remove it") from error
    try:
        with atomic.read_errors(place):
            data, _ = atomic.read(directory, place.name, place)
    except Unreadable as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return SettingsFile(place, None)
        raise
    finally:
        os.close(directory)
    return SettingsFile(place, data)


def check_writable(file: SettingsFile) -> None:
    """Raise Unwritable if the file is read-only, or its directory is."""
    if file.data is None:
        above = next(one for one in file.path.parents if one.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise Unwritable(f"{file.path} cannot be created: {above} cannot be written, check its permissions")
        return
    try:
        mode = file.path.stat().st_mode
    except FileNotFoundError:  # fallback: another process has removed it, which the write finds out
        return
    if not mode & 0o222 or not os.access(file.path, os.W_OK):
        raise Unwritable(f"{file.path} is read-only ({stat.filemode(mode)}): make it writable first (chmod u+w)")
    if not os.access(file.path.parent, os.W_OK | os.X_OK):
        raise Unwritable(f"{file.path.parent} cannot be written: check its permissions")


def other_names(file: SettingsFile) -> int:
    """Return how many other names (hard links) the file has: they keep the old contents when it is replaced."""
    try:
        return 0 if file.data is None else file.path.stat().st_nlink - 1
    except OSError:  # fallback: it is gone, which the write finds out
        return 0


def missing_directories(path: Path) -> list[Path]:
    """Return the directories that have to be made for a file, the outermost first."""
    return [one for one in reversed(path.parents) if not one.exists()]


def write(file: SettingsFile, data: bytes | None, *, private: bool = False) -> None:
    """Replace the file as it was read by new bytes, or remove it if they are None.

    Its mode and owner stay; a new one is readable by its owner only if it is `private`. Raise Changed if it is no longer as
    it was read, and Unwritable if it cannot be written. A process that is killed leaves the old file or the new one.
    """
    place = file.path
    with atomic.write_errors(place):
        if file.data is None and data is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.is_dir():
            return
        directory = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _replace(directory, file, data, private=private)
            os.fsync(directory)
        finally:
            os.close(directory)


def remove_leftover(file: SettingsFile) -> None:
    """Remove what a killed process left beside a file."""
    with atomic.write_errors(file.path):
        _spare(file).unlink(missing_ok=True)


def _spare(file: SettingsFile) -> Path:
    """Where the new file is written: one name for all processes, because they hold a lock."""
    return file.path.with_name(f".{file.path.name}.omoide-new")


def _replace(directory: int, file: SettingsFile, data: bytes | None, *, private: bool) -> None:
    name, spare = file.path.name, _spare(file).name
    try:
        if data is None:
            _remove(directory, name, spare, file)
            return
        _write_spare(directory, spare, file, data, private=private)
        if file.data is None:
            _link_new(directory, spare, name, file)
        else:
            _exchange(directory, spare, name, file)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(spare, dir_fd=directory)


def _write_spare(directory: int, spare: str, file: SettingsFile, data: bytes, *, private: bool) -> None:
    mode, owner = (0o600 if private else 0o666), None
    if file.data is not None:
        try:
            found = file.path.stat()
        except FileNotFoundError as error:
            raise _change_error(file) from error
        mode, owner = stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid)
    with suppress(FileNotFoundError):
        os.unlink(spare, dir_fd=directory)
    descriptor = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as new:
        if owner is not None:
            if owner != (os.geteuid(), os.getegid()) and os.geteuid() == 0:
                os.fchown(descriptor, *owner)
            os.fchmod(descriptor, mode)
        new.write(data)
        new.flush()
        os.fsync(descriptor)


def _link_new(directory: int, spare: str, name: str, file: SettingsFile) -> None:
    try:
        os.link(spare, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError as error:
        raise _change_error(file) from error


def _exchange(directory: int, spare: str, name: str, file: SettingsFile) -> None:
    """Put the new file in place, and put the old one back if it is not the one that was read."""
    try:
        atomic.swap(directory, spare, name)
    except NotImplementedError:  # fallback: compare, then replace
        if atomic.read(directory, name, file.path)[0] != file.data:
            raise _change_error(file) from None
        os.replace(spare, name, src_dir_fd=directory, dst_dir_fd=directory)
        return
    except FileNotFoundError as error:
        raise _change_error(file) from error
    if atomic.read(directory, spare, file.path)[0] != file.data:
        atomic.swap(directory, spare, name)
        raise _change_error(file)


def _remove(directory: int, name: str, spare: str, file: SettingsFile) -> None:
    try:
        os.rename(name, spare, src_dir_fd=directory, dst_dir_fd=directory)
    except FileNotFoundError:
        return
    if atomic.read(directory, spare, file.path)[0] != file.data:
        os.link(spare, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        raise _change_error(file)


def _change_error(file: SettingsFile) -> Changed:
    return Changed(f"{file.path} changed while it was being edited: try again")
