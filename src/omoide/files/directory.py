"""The only writer of Markdown files: inside one directory, atomically, without overwriting anybody's text.

- Names are relative and stay inside: every directory on the way is opened in turn without following symbolic links, so that
  nothing can lead a write out of the root, not even at that moment. The root itself is named by its owner and is followed.
- A file is written beside its place, synced, and exchanged with the old one in one step. Then the old one is compared: if
  it is not what the writer had read (an editor saved it meanwhile), it is exchanged back, and the writer gets `Changed`.
- A lock on the directory itself separates processes and threads; it leaves nothing behind when they are killed.
"""

import fcntl
import functools
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from omoide.errors import Changed, Unreadable, Unwritable
from omoide.files import atomic
from omoide.files.atomic import Stat
from omoide.files.late_saves import ReplacedFile, ReplacedFiles

BACKUPS = ".omoide-backups"
_REPLACED = "replaced"
"""Below the backups: see `replaced`."""
_WAIT_SECONDS = 30.0
_STALE_SECONDS = 60.0
"""A temporary file that is older was left by a killed process."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Directory:
    """A directory with files that omoide writes. Names are relative to it, with `/`."""

    def __init__(
        self,
        root: Path,
        backups: int = 5,
        *,
        private: bool = False,
        wait: float = _WAIT_SECONDS,
        keep_replaced: bool = False,
    ) -> None:
        """`keep_replaced`: whether files that are replaced or removed are kept for a while, in `replaced`."""
        self.root = root
        self._backups = backups
        # The umask applies, as to every other file.
        self._file_mode, self._directory_mode = (0o600, 0o700) if private else (0o666, 0o777)
        self._wait = wait
        self._held = threading.local()
        self._known: dict[str, tuple[Stat, bytes]] = {}
        """What was last read or written under a name: times are too coarse to separate saves within a few milliseconds."""
        self._swept: set[str] = set()
        self.replaced = ReplacedFiles(root / BACKUPS / _REPLACED)
        self._keep_replaced = keep_replaced

    @classmethod
    def containing(
        cls, file: Path, backups: int = 5, *, private: bool = False, keep_replaced: bool = False
    ) -> tuple["Directory", str]:
        """The directory of one file, and its name there. A symbolic link stands for the file that it leads to."""
        file = file.resolve()
        return cls(file.parent, backups, private=private, keep_replaced=keep_replaced), file.name

    def exists(self) -> bool:
        """Whether the directory is there."""
        with atomic.read_errors(self.root):
            return self.root.is_dir()

    def names(self, directories: Iterable[str] = ("",)) -> list[tuple[str, Stat]]:
        """The Markdown files of these directories, in no order. A directory that does not exist has none."""
        found: list[tuple[str, Stat]] = []
        for directory in directories:
            prefix = f"{directory}/" if directory else ""
            with atomic.read_errors(self.root / directory), self._directory(atomic.path_parts(directory)) as descriptor:
                if descriptor is None:
                    continue
                with os.scandir(descriptor) as entries:
                    for entry in entries:
                        name = entry.name
                        if name.endswith(".md") and name[0] != "." and not entry.is_dir(follow_symlinks=False):
                            try:
                                seen = entry.stat(follow_symlinks=False)
                            except FileNotFoundError:  # just deleted
                                continue
                            found.append((prefix + name, Stat(seen.st_mtime_ns, seen.st_size, seen.st_ino)))
        return found

    def stat(self, name: str) -> Stat | None:
        """How a file looks; None if there is none."""
        atomic.split_name(name)
        with atomic.read_errors(self.root / name):
            return atomic.stat(str(self.root / name))

    def read(self, name: str) -> tuple[str, Stat] | None:
        """The text, with its BOM and line ends, and how the file looked then; None if there is no file."""
        parts, last = atomic.split_name(name)
        path = self.root / name
        with atomic.read_errors(path), self._directory(parts) as directory:
            if directory is None:
                return None
            try:
                data, seen = atomic.read(directory, last, path)
            except FileNotFoundError:
                return None
        self._known[name] = (seen, atomic.digest(data))
        return atomic.text(data, path), seen

    def write(self, name: str, text: str, seen: Stat | None) -> Stat:
        """Write a text in place of what was seen there (None: nothing). Raises Changed if it is no longer that."""
        parts, last = atomic.split_name(name)
        data = text.encode()
        with self.lock(), atomic.write_errors(self.root / name), self._open_or_create(parts) as directory:
            self._sweep(directory, "/".join(parts))
            mode = self._check_replaced(directory, last, name, seen)
            new, made = self._temporary(directory, data, mode)
            try:
                if seen is None:
                    self._hard_link(directory, new, directory, last, name)
                else:
                    self._exchange(directory, new, last, name, seen)
            except BaseException:
                if atomic.stat(new, directory) == made:  # else it is somebody's text: a later sweep keeps it
                    os.unlink(new, dir_fd=directory)
                raise
            with suppress(FileNotFoundError):
                if seen is None:
                    os.unlink(new, dir_fd=directory)
                else:
                    self._retire(directory, new, name, seen)
            self._held.touched.add("/".join(parts))
        self._known[name] = (made, atomic.digest(data))
        return made

    def remove(self, name: str, seen: Stat) -> None:
        """Delete a file that looks as it was seen. Raises Changed if it does not."""
        parts, last = atomic.split_name(name)
        with self.lock(), atomic.write_errors(self.root / name), self._directory(parts) as directory:
            aside = self._set_aside(directory, last, name, seen)
            self._retire(directory, aside, name, seen)
            self._held.touched.add("/".join(parts))

    def back_up_replaced(self, file: ReplacedFile) -> str:
        """Move a replaced file among the backups of the file that it was, and return where it is."""
        parts, last = atomic.split_name(file.name)
        with self.lock(), atomic.write_errors(file.path), self._open_or_create([BACKUPS, _REPLACED]) as directory:
            return self._add_backup(parts, last, functools.partial(atomic.move_aside, directory, file.path.name))

    def move(self, name: str, to: str, seen: Stat) -> None:
        """Rename a file that looks as it was seen. Raises Changed if it does not, or the new name is taken."""
        parts, last = atomic.split_name(name)
        new_parts, new_last = atomic.split_name(to)
        with (
            self.lock(),
            atomic.write_errors(self.root / to),
            self._open_or_create(new_parts) as new,
            self._directory(parts) as old,
        ):
            known = self._known.get(name)
            aside = self._set_aside(old, last, name, seen)
            try:
                self._hard_link(old, aside, new, new_last, to)
            except BaseException:
                self._put_back(old, aside, last, name)
                raise
            with suppress(FileNotFoundError):
                os.unlink(aside, dir_fd=old)
            self._held.touched |= {"/".join(parts), "/".join(new_parts)}
        if known:
            self._known[to] = known

    def backup(self, name: str) -> str | None:
        """Copy a file to `.omoide-backups` and return the name of the copy; None if there is no file.

        Only the newest few copies are kept.
        """
        parts, last = atomic.split_name(name)
        with self.lock(), atomic.write_errors(self.root / name), self._directory(parts) as directory:
            if directory is None or self._backups < 1 or atomic.stat(last, directory) is None:
                return None
            data, _ = atomic.read(directory, last, self.root / name)
            mode = stat.S_IMODE(os.stat(last, dir_fd=directory, follow_symlinks=False).st_mode)
            return self._add_backup(parts, last, lambda there: self._temporary(there, data, mode)[0])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Prevent other processes and threads from writing here. May be nested. Raises Unwritable after a long wait."""
        if getattr(self._held, "touched", None) is not None:
            yield
            return
        with atomic.write_errors(self.root):
            root = self._open([], make=True)
        try:
            with atomic.write_errors(self.root):
                self._acquire(root)
            self._held.touched = set()
            try:
                yield
            finally:
                touched, self._held.touched = self._held.touched, None
                with atomic.write_errors(self.root):
                    self._sync_directories(touched)
        finally:
            os.close(root)

    def _acquire(self, root: int) -> None:
        started = time.monotonic()
        pause = 0.001
        while True:
            try:
                fcntl.flock(root, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() - started > self._wait:
                    message = f"{self.root}: another process has been writing for {self._wait:g} s: try again"
                    raise Unwritable(message) from None
                time.sleep(pause)
                pause = min(pause * 2, 0.05)
            else:
                return

    def _sync_directories(self, touched: Iterable[str]) -> None:
        """Sync the names that were changed to the disk, once for all files of a directory."""
        for directory in touched:
            with self._directory(atomic.path_parts(directory)) as descriptor:
                if descriptor is not None:
                    os.fsync(descriptor)

    @contextmanager
    def _directory(self, parts: list[str]) -> Iterator[int | None]:
        """An open directory below the root, or None."""
        try:
            descriptor = self._open(parts, make=False)
        except FileNotFoundError:
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _open_or_create(self, parts: list[str]) -> Iterator[int]:
        """The same, made where it is missing."""
        descriptor = self._open(parts, make=True)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _open(self, parts: list[str], *, make: bool) -> int:
        if make:
            # Only the root itself: where a whole repository is gone, none is created in its place.
            with suppress(FileExistsError):
                self.root.mkdir(self._directory_mode)
        descriptor = os.open(self.root, _DIRECTORY)
        for part in parts:
            above = descriptor
            try:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, self._directory_mode, dir_fd=above)
                descriptor = os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
            finally:
                os.close(above)
        return descriptor

    def _check_replaced(self, directory: int, last: str, name: str, seen: Stat | None) -> int | None:
        """The mode of the file that is replaced; None if there is none.

        Raises Changed if it is not what was seen, Unwritable if it is read-only.
        """
        try:
            old = os.stat(last, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            if seen is None:
                return None
            raise self._changed_error(name) from None
        path = self.root / name
        if not stat.S_ISREG(old.st_mode):
            raise Unwritable(f"{path} is a symbolic link or not a file: it is neither followed nor replaced, remove it")
        if Stat(old.st_mtime_ns, old.st_size, old.st_ino) != seen:
            raise self._changed_error(name)
        if not old.st_mode & 0o222:
            raise Unwritable(f"{path} is read-only and was left as it is: `chmod u+w` lets omoide write it")
        return stat.S_IMODE(old.st_mode)

    def _exchange(self, directory: int, new: str, last: str, name: str, seen: Stat) -> None:
        """Put the new file in the old one's place, if that is what was seen; the old one gets the name of the new."""
        made = atomic.stat(new, directory)
        try:
            atomic.swap(directory, new, last)
        except FileNotFoundError:
            raise self._changed_error(name) from None
        except NotImplementedError:  # fallback: compare as late as possible
            if not self._is_unchanged(directory, last, name, seen):
                raise self._changed_error(name) from None
            self._rename_over(directory, new, last)
            return
        if self._is_unchanged(directory, new, name, seen):
            return
        try:
            atomic.swap(directory, new, last)
        except FileNotFoundError:  # somebody deleted it meanwhile
            self._add_backup([], "left", functools.partial(atomic.move_aside, directory, new))
            raise self._changed_error(name) from None
        if atomic.stat(new, directory) != made:  # somebody saved once more in between: both texts are kept
            self._add_backup([], "left", functools.partial(atomic.move_aside, directory, new))
        raise self._changed_error(name)

    def _rename_over(self, directory: int, new: str, last: str) -> None:
        """The same as an exchange, in two steps; the old file is gone where a file can have only one name."""
        old = self._unused_name()
        with suppress(OSError):  # fallback: the old file is gone, so that a late save to it is lost
            os.link(last, old, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        os.rename(new, last, src_dir_fd=directory, dst_dir_fd=directory)
        with suppress(FileNotFoundError):
            os.rename(old, new, src_dir_fd=directory, dst_dir_fd=directory)

    def _retire(self, directory: int | None, old: str, name: str, seen: Stat) -> None:
        """Keep a file that was replaced, because a program may still write to it, or delete it."""
        if not self._keep_replaced:
            os.unlink(old, dir_fd=directory)
            return
        try:
            with self._open_backups([_REPLACED]) as there:
                self.replaced.add(name, seen, lambda new: os.rename(old, new, src_dir_fd=directory, dst_dir_fd=there))
        except FileNotFoundError:  # a file has only one name here, so that the old one is gone already
            return
        except OSError:  # fallback: as where they are not kept
            os.unlink(old, dir_fd=directory)

    def _set_aside(self, directory: int | None, last: str, name: str, seen: Stat) -> str:
        """Give a file a temporary name, if it is what was seen; what an editor saves at this moment is put back."""
        if directory is None or atomic.stat(last, directory) != seen:
            raise self._changed_error(name)
        aside = self._unused_name()
        os.rename(last, aside, src_dir_fd=directory, dst_dir_fd=directory)
        if not self._is_unchanged(directory, aside, name, seen):
            self._put_back(directory, aside, last, name)
            raise self._changed_error(name)
        self._known.pop(name, None)
        return aside

    def _put_back(self, directory: int | None, aside: str, last: str, name: str) -> None:
        if directory is None:
            return
        try:
            self._hard_link(directory, aside, directory, last, name)
        except Changed:  # somebody saved once more in between: both texts are kept
            self._add_backup([], "left", functools.partial(atomic.move_aside, directory, aside))
        with suppress(FileNotFoundError):
            os.unlink(aside, dir_fd=directory)

    def _hard_link(self, source: int | None, old: str, target: int, last: str, name: str) -> None:
        """Give a file a second name. Raises Changed if that is taken."""
        try:
            os.link(old, last, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        except FileExistsError:
            raise self._changed_error(name) from None
        except OSError as error:
            if error.errno not in atomic.UNSUPPORTED or atomic.stat(last, target) is not None:
                raise
            os.rename(old, last, src_dir_fd=source, dst_dir_fd=target)  # fallback: a file has only one name here

    def _is_unchanged(self, directory: int, there: str, name: str, seen: Stat) -> bool:
        """Whether a file is the one that was seen under its name: by its bytes, if they are known."""
        if atomic.stat(there, directory) != seen:
            return False
        known = self._known.get(name)
        if known is None or known[0] != seen:
            return True
        try:
            data, _ = atomic.read(directory, there, self.root / name)
        except Unreadable:  # it is being written
            return False
        return atomic.digest(data) == known[1]

    def _changed_error(self, name: str) -> Changed:
        return Changed(f"{self.root / name} is no longer what was read: somebody has changed it, read it again")

    def _temporary(self, directory: int, data: bytes, mode: int | None = None) -> tuple[str, Stat]:
        """Write a file beside its future place, synced to the disk; its name, and how it looks."""
        name = self._unused_name()
        descriptor = os.open(name, _NEW, self._file_mode if mode is None else 0o600, dir_fd=directory)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if mode is not None:
                    os.fchmod(descriptor, mode)
                os.fsync(descriptor)
                made = os.fstat(descriptor)
        except BaseException:
            os.unlink(name, dir_fd=directory)
            raise
        return name, Stat(made.st_mtime_ns, made.st_size, made.st_ino)

    def _unused_name(self) -> str:
        self._held.count = getattr(self._held, "count", 0) + 1
        return f".omoide-{os.getpid()}-{threading.get_native_id()}-{id(self)}-{self._held.count}.tmp"

    def _sweep(self, directory: int, where: str) -> None:
        """Move what a killed process left to the backups: it may be the only copy of somebody's text."""
        if where in self._swept:
            return
        self._swept.add(where)
        for name in _list_names(directory):
            if name.startswith(".omoide-") and name.endswith(".tmp"):
                with suppress(FileNotFoundError):
                    left = os.stat(name, dir_fd=directory, follow_symlinks=False)
                    if stat.S_ISREG(left.st_mode) and time.time() - left.st_mtime > _STALE_SECONDS:
                        self._add_backup([], "left", functools.partial(atomic.move_aside, directory, name))

    @contextmanager
    def _open_backups(self, parts: list[str]) -> Iterator[int]:
        """A directory among the backups, made where it is missing. Git ignores all of them."""
        with self._open_or_create([BACKUPS]) as top, suppress(FileExistsError):
            ignore = os.open(".gitignore", _NEW, 0o644, dir_fd=top)
            os.write(ignore, b"*\n")
            os.close(ignore)
        with self._open_or_create([BACKUPS, *parts]) as there:
            yield there

    def _add_backup(self, parts: list[str], last: str, put: Callable[[int], str]) -> str:
        """Add a numbered file to the backups and return its name; the oldest ones are deleted.

        `put` creates it in the directory whose descriptor it gets, and returns its name there.
        """
        with self._open_backups(parts) as there:
            numbers = sorted(int(end) for file in _list_names(there) if (end := file.removeprefix(f"{last}.")).isdecimal())
            new = f"{last}.{numbers[-1] + 1 if numbers else 1}"
            os.rename(put(there), new, src_dir_fd=there, dst_dir_fd=there)
            for number in numbers[: max(0, len(numbers) + 1 - max(1, self._backups))]:
                os.unlink(f"{last}.{number}", dir_fd=there)
            os.fsync(there)
        return "/".join([BACKUPS, *parts, new])


def _list_names(directory: int) -> list[str]:
    with os.scandir(directory) as entries:
        return [entry.name for entry in entries]
