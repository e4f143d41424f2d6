"""Bearer tokens for HTTP: who bears one, in which role, within which bounds, in a file that only its owner can read.

Each line of the file is a token, a role, perhaps bounds, perhaps a name; # begins a comment:

    zN5yQ0… owner
    8fJ2kL… worker projects=shop,backend/python/api layers=project,session ci

In a project's path, what is not a plain character is written as in a URL (%20 for a space).
"""

import hmac
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from omoide import model
from omoide.errors import InvalidInput, OmoideError, Unreadable
from omoide.interfaces.http import state_files
from omoide.model import Layer, Role
from omoide.settings import Settings

VARIABLE = "OMOIDE_MCP_TOKEN"
_SHORTEST = 16
_SYNTAX = "a token, then owner, admin or worker, then perhaps projects=…, layers=… and a name"


class Bearer(NamedTuple):
    role: Role
    name: str
    projects: tuple[str, ...] = ()
    """The only projects it may use; empty: all."""
    layers: tuple[Layer, ...] = ()
    """The only layers it may use; empty: all."""

    @property
    def is_bound(self) -> bool:
        return bool(self.projects or self.layers)


class _File(NamedTuple):
    tokens: dict[str, Bearer]
    faults: Sequence[str]
    """What is wrong with each line that cannot be read. Never holds a token."""


def token_file(settings: Settings) -> Path:
    return state_files.state_file(settings, "tokens")


class Tokens:
    """The tokens as their file has them now: read again when it has changed, so that a new one needs no restart.

    What can be read counts. A line, or a file, that cannot be read grants nothing, and `tell` hears of it once for each
    change.
    """

    def __init__(self, settings: Settings, tell: Callable[[str], None]):
        """Without any token, one is made for the owner. Raise Unreadable where the file as a whole cannot be used."""
        self._settings = settings
        self._tell = tell
        self._mark = self._file_stamp()
        self._known = self._merge_tokens(_read(token_file(settings)))
        if not self._known:
            self._known[make_token(settings, Role.OWNER.value, "")] = Bearer(Role.OWNER, "")
            self._mark = self._file_stamp()
        self._lock = threading.Lock()

    def bearer(self, shown: bytes) -> Bearer | None:
        with self._lock:
            mark = self._file_stamp()
            if mark != self._mark:
                self._mark = mark
                self._known = self._merge_tokens(self._read_again())
            # All of them are compared, each in the same time: how long it takes tells nothing about any token.
            found = [who for token, who in self._known.items() if hmac.compare_digest(token.encode(), shown)]
        return found[0] if found else None

    def _read_again(self) -> _File:
        try:
            return _read(token_file(self._settings))
        except OmoideError as error:  # fallback: no token of the file counts until it is mended
            return _File({}, [f"no token counts any more: {error}"])

    def _merge_tokens(self, read: _File) -> dict[str, Bearer]:
        """The tokens of the file, and the variable's, which is the owner's."""
        for fault in read.faults:
            self._tell(fault)
        given = os.environ.get(VARIABLE)
        if given is None:
            return read.tokens
        if len(given) < _SHORTEST or not given.isascii() or not given.isprintable() or " " in given:
            raise InvalidInput(f"{VARIABLE} is too weak: {_SHORTEST} characters or more, without spaces, please")
        return {**read.tokens, given: Bearer(Role.OWNER, "")}

    def _file_stamp(self) -> tuple[int, int, int]:
        try:
            state = token_file(self._settings).stat()
        except OSError:  # fallback: reading it says what is wrong
            return 0, 0, 0
        return state.st_mtime_ns, state.st_size, state.st_mode


def make_token(
    settings: Settings,
    role: str,
    name: str,
    projects: Iterable[str] = (),
    layers: Iterable[str] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> str:
    """The token of this role, name and bounds, made when there is none. `tell` hears of lines that cannot be read."""
    name = " ".join(name.split())
    if "#" in name or not name.isprintable() or name.startswith(("projects=", "layers=")):
        raise InvalidInput(f"{name!r} cannot stand in the file of tokens: a name without # and control characters, please")
    paths = dict.fromkeys(map(model.check_project_path, projects))
    bearer = Bearer(Role(role), name, tuple(paths), tuple(dict.fromkeys(map(Layer, layers))))
    path = token_file(settings)
    read = _read(path)
    for fault in read.faults:
        tell(fault)
    for token, other in read.tokens.items():
        if other == bearer:
            return token
    import secrets  # noqa: PLC0415 - 15 ms that only a new token needs

    token = secrets.token_urlsafe(32)
    descriptor = state_files.open_private(path, os.O_RDWR | os.O_APPEND)
    try:
        with state_files.file_errors(path):
            size = os.fstat(descriptor).st_size
            os.lseek(descriptor, max(size - 1, 0), os.SEEK_SET)
            between = b"" if os.read(descriptor, 1) in (b"", b"\n") else b"\n"  # an editor may have left its last line open
            os.write(descriptor, between + f"{token} {_format_line(bearer)}\n".encode())
    finally:
        os.close(descriptor)
    return token


def _format_line(bearer: Bearer) -> str:
    projects = f"projects={','.join(quote(path) for path in bearer.projects)}" if bearer.projects else ""
    layers = f"layers={','.join(bearer.layers)}" if bearer.layers else ""
    return " ".join(filter(None, (bearer.role.value, projects, layers, bearer.name)))


def _read(path: Path) -> _File:
    """What the file says. Raise Unreadable where it cannot be used at all."""
    try:
        with state_files.file_errors(path):
            data = path.read_bytes()
            mode = path.stat().st_mode
    except FileNotFoundError:
        return _File({}, ())
    if os.name == "posix" and mode & 0o077:
        raise Unreadable(f"others can read {path}: chmod 600 '{path}', and make new tokens")
    tokens: dict[str, Bearer] = {}
    faults: list[str] = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            words = line.decode().partition("#")[0].split()
            if words:
                tokens[_token(words[0])] = _bearer(words[1:])
        except UnicodeDecodeError:
            faults.append(f"{path}, line {number} grants nothing: this is not UTF-8, write it so, or take it out")
        except InvalidInput as error:
            faults.append(f"{path}, line {number} grants nothing: {error}")
    return _File(tokens, faults)


def _token(word: str) -> str:
    if len(word) < _SHORTEST:
        raise InvalidInput(f"its token is shorter than {_SHORTEST} characters; a line is {_SYNTAX}")
    return word


def _bearer(words: Sequence[str]) -> Bearer:
    """Who the rest of a line names; InvalidInput tells what is wrong with it."""
    if not words or words[0] not in list(Role):
        raise InvalidInput(f"it names no role; a line is {_SYNTAX}")
    bounds: dict[str, list[str]] = {}
    rest = list(words[1:])
    while rest and rest[0].startswith(("projects=", "layers=")):
        kind, _, values = rest.pop(0).partition("=")
        if kind in bounds or not all(values.split(",")):
            raise InvalidInput(f"{kind}= is there twice, or names nothing; a line is {_SYNTAX}")
        bounds[kind] = values.split(",")
    projects = tuple(model.check_project_path(unquote(path)) for path in bounds.get("projects", ()))
    unknown = set(bounds.get("layers", ())) - set(Layer)
    if unknown:
        raise InvalidInput(f"there is no layer {', '.join(sorted(unknown))!s:.100}: use {', '.join(Layer)}")
    return Bearer(Role(words[0]), " ".join(rest), projects, tuple(map(Layer, bounds.get("layers", ()))))
