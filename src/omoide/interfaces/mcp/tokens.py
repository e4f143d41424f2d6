"""Bearer tokens for HTTP: who bears one, and in which role, in a file that only its owner can read."""

import hmac
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from omoide.config import Settings
from omoide.errors import InvalidInput, OmoideError, Unreadable
from omoide.interfaces.mcp import beside
from omoide.model import Role

VARIABLE = "OMOIDE_MCP_TOKEN"
_SHORTEST = 16


class Bearer(NamedTuple):
    role: Role
    name: str


def file(settings: Settings) -> Path:
    return beside.file(settings, "tokens")


def known(settings: Settings) -> dict[str, Bearer]:
    """Every token and its bearer. The variable's is the owner's; without any token, one is made for the owner."""
    found = _read(file(settings))
    given = os.environ.get(VARIABLE)
    if given is not None:
        if len(given) < _SHORTEST or not given.isascii() or not given.isprintable() or " " in given:
            raise InvalidInput(f"{VARIABLE} is too weak: {_SHORTEST} characters or more, without spaces, please")
        found[given] = Bearer(Role.OWNER, "")
    if not found:
        found[made(settings, Role.OWNER.value, "")] = Bearer(Role.OWNER, "")
    return found


class Tokens:
    """The tokens as their file has them now: read again when it has changed, so that a new one needs no restart."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._known = known(settings)
        self._mark = self._seen()
        self._lock = threading.Lock()

    def bearer(self, shown: bytes) -> Bearer | None:
        with self._lock:
            mark = self._seen()
            if mark != self._mark:
                with suppress(OmoideError):  # plan B: those that were known, until the file is mended
                    self._known = known(self._settings)
                    self._mark = mark
            # All of them are compared, each in the same time: how long it takes tells nothing about any token.
            found = [who for token, who in self._known.items() if hmac.compare_digest(token.encode(), shown)]
        return found[0] if found else None

    def _seen(self) -> tuple[int, int]:
        try:
            state = file(self._settings).stat()
        except OSError:  # plan B: reading it says what is wrong
            return 0, 0
        return state.st_mtime_ns, state.st_size


def made(settings: Settings, role: str, name: str) -> str:
    """The token of this role and name, made when there is none."""
    name = " ".join(name.split())
    if "#" in name or not name.isprintable():
        raise InvalidInput(f"{name!r} cannot stand in the file of tokens: a name without # and control characters, please")
    bearer = Bearer(Role(role), name)
    path = file(settings)
    for token, other in _read(path).items():
        if other == bearer:
            return token
    import secrets  # noqa: PLC0415 - 15 ms that only a new token needs

    token = secrets.token_urlsafe(32)
    descriptor = beside.opened(path, os.O_RDWR | os.O_APPEND)
    try:
        with beside.usable(path):
            size = os.fstat(descriptor).st_size
            os.lseek(descriptor, max(size - 1, 0), os.SEEK_SET)
            between = b"" if os.read(descriptor, 1) in (b"", b"\n") else b"\n"  # an editor may have left its last line open
            os.write(descriptor, between + f"{token} {role} {name}".rstrip().encode() + b"\n")
    finally:
        os.close(descriptor)
    return token


def _read(path: Path) -> dict[str, Bearer]:
    """Lines of token, role and perhaps a name; # begins a comment."""
    try:
        with beside.usable(path):
            data = path.read_bytes()
            mode = path.stat().st_mode
    except FileNotFoundError:
        return {}
    if os.name == "posix" and mode & 0o077:
        raise Unreadable(f"others can read {path}: chmod 600 '{path}', and make new tokens")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        wrong = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"{path}, line {wrong}: this is not UTF-8, write it so, or take it out") from error
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split(maxsplit=2)
        if not words:
            continue
        if len(words) < 2 or words[1] not in list(Role) or len(words[0]) < _SHORTEST:
            raise Unreadable(f"{path}, line {number}: a token, then owner, admin or worker, then perhaps a name")
        found[words[0]] = Bearer(Role(words[1]), words[2].strip() if len(words) == 3 else "")
    return found
