"""Regular expressions in compiled form, stored in the user's cache as Python stores compiled modules beside their sources.

Compiling a pattern is pure Python: it would take a quarter of the time of a process that answers a question, and more than a
half of one that learns. What is stored is what `re` makes of a pattern, for one version of Python. Without the file, or if
a Python has another form, patterns are compiled as usual.
"""

import os
import re
import stat
import sys
import time
from binascii import crc32
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from omoide.user_directories import cache_directory

_LARGEST = 4_000_000
"""Bytes of the file: a larger one has patterns that no version uses any more, and is begun again."""
_LEFT_SECONDS = 3_600
"""After this time nobody writes a file any more that was not finished."""
_CODE_BYTES = 4
"""Of a number of the compiled form."""
_FAULTS = (OSError, ValueError, TypeError, LookupError, RuntimeError, OverflowError, msgspec.MsgspecError)
"""What reading a damaged file, or giving `re` what it cannot use, may raise."""


class _Compiled(msgspec.Struct, frozen=True, array_like=True):
    """What `_sre.compile` takes beside the pattern."""

    flags: int
    code: bytes
    groups: int
    names: dict[str, int]
    check: int
    """A checksum of all this and the pattern: a file may be damaged."""


class _PatternFile(msgspec.Struct, frozen=True, array_like=True):
    python: str
    patterns: dict[str, msgspec.Raw]
    """By flags and pattern. A process decodes those that it uses."""


class _PatternCache:
    """The patterns of the file, which is read when the first one is needed, and those that are not in it."""

    def __init__(self) -> None:
        self._stored: dict[str, msgspec.Raw] | None = None
        self._new: list[tuple[int, re.Pattern[str]]] = []

    def compile(self, pattern: str, flags: int) -> re.Pattern[str]:
        if self._stored is None:
            self._stored = _read()
        raw = self._stored.get(f"{flags} {pattern}")
        if raw is not None:
            with suppress(*_FAULTS):  # fallback: compile it
                return _restore(pattern, msgspec.msgpack.decode(raw, type=_Compiled))
        made = re.compile(pattern, flags)
        self._new.append((flags, made))
        return made

    def store(self) -> None:
        new, self._new = self._new, []
        if not new:
            return
        with suppress(*_FAULTS):  # fallback: the next process compiles them, too
            encoder = msgspec.msgpack.Encoder()
            forms = {f"{flags} {made.pattern}": form for flags, made in new if (form := _compiled_form(made, flags))}
            if not forms:
                return
            patterns = {key: msgspec.Raw(encoder.encode(form)) for key, form in forms.items()}
            # Read once more: another process may have stored other ones meanwhile.
            _write(encoder.encode(_PatternFile(_python(), {**_read(), **patterns})))


_CACHE = _PatternCache()


def load_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a compiled regular expression, as `re.compile` does. For patterns of the program, not for those of a text."""
    return _CACHE.compile(pattern, int(flags))


def store_patterns() -> None:
    """Store the patterns that had to be compiled. Call at the end of a process; what cannot be written is left."""
    _CACHE.store()


def _python() -> str:
    """What the compiled form depends on, as a text."""
    sre: Any = sys.modules.get("_sre")
    return f"{sys.version} {sys.byteorder} {getattr(sre, 'MAGIC', '')} {getattr(sre, 'CODESIZE', '')}"


def _path() -> Path:
    return cache_directory() / f"patterns-{sys.implementation.cache_tag}.msgpack"


def _read() -> dict[str, msgspec.Raw]:
    """The patterns of the file; none if it is not there, not valid, another user's, or of another Python."""
    with suppress(*_FAULTS):  # fallback: everything is compiled
        descriptor = os.open(_path(), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a named pipe would wait for a writer
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            is_own = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
            if not is_own or not stat.S_ISREG(state.st_mode) or state.st_size > _LARGEST:
                return {}
            found = msgspec.msgpack.decode(file.read(), type=_PatternFile)
        if found.python == _python():
            return found.patterns
    return {}


def _write(data: bytes) -> None:
    """Replace the file in one step, and remove what processes left that were killed while they did."""
    path = _path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    for other in path.parent.glob(f"{path.name}.*"):
        if other.stat().st_mtime < time.time() - _LEFT_SECONDS:
            other.unlink()


def _compiled_form(made: re.Pattern[str], flags: int) -> _Compiled | None:
    """The compiled form of a pattern; None if this Python has another one, so that no equal pattern is made of it."""
    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]  # lazy: private, may be absent

        parsed = _parser.parse(made.pattern, flags)
        numbers = _compiler._code(parsed, flags)  # noqa: SLF001 - there is no public name
        code = b"".join([int(number).to_bytes(_CODE_BYTES, sys.byteorder) for number in numbers])
        names = dict(made.groupindex)
        form = _Compiled(made.flags, code, made.groups, names, _checksum(made.pattern, made.flags, code, made.groups, names))
        return form if _restore(made.pattern, form) == made else None
    except (ImportError, AttributeError, *_FAULTS):  # fallback: it is compiled each time
        return None


def _checksum(pattern: str, flags: int, code: bytes, groups: int, names: dict[str, int]) -> int:
    return crc32(f"{flags} {groups} {names} {pattern}".encode(), crc32(code))


def _restore(pattern: str, form: _Compiled) -> re.Pattern[str]:
    """The pattern of a compiled form. Raises ValueError, TypeError or RuntimeError if the form is not valid."""
    if _checksum(pattern, form.flags, form.code, form.groups, form.names) != form.check:
        raise ValueError("the compiled form is damaged")
    names: list[str | None] = [None] * (form.groups + 1)
    for name, group in form.names.items():
        names[group] = name
    code = memoryview(form.code).cast("I").tolist()
    sre: Any = sys.modules["_sre"]
    made: re.Pattern[str] = sre.compile(pattern, form.flags, code, form.groups, form.names, tuple(names))
    return made
