"""Bearer tokens for HTTP, with role, bounds and name, in a file that only its owner can read.

Each line of the file is a token, a role, optional bounds, and an optional name; # starts a comment:

    zN5yQ0… owner
    8fJ2kL… worker projects=shop,backend/python/api layers=project,session ci

The path of a project is URL-encoded (%20 for a space).
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
"""The environment variable from which MCP clients take their token."""
VARIABLES = ("OMOIDE_TOKEN", VARIABLE)
"""Environment variables of a server with a token of the owner."""
_MIN_LENGTH = 16
_SYNTAX = "TOKEN owner|admin|worker [projects=…] [layers=…] [NAME]"


class Bearer(NamedTuple):
    """Who bears a token, and what it allows."""

    role: Role
    name: str
    projects: tuple[str, ...] = ()
    """The projects it is limited to; empty: all."""
    layers: tuple[Layer, ...] = ()
    """The layers it is limited to; empty: all."""

    @property
    def is_bound(self) -> bool:
        """True if the token is limited to projects or layers."""
        return bool(self.projects or self.layers)


class _TokenFile(NamedTuple):
    tokens: dict[str, Bearer]
    problems: Sequence[str]
    """One message for each line that cannot be read. Never contains a token."""


def token_file(settings: Settings) -> Path:
    """Return the path of the file with the tokens."""
    return state_files.state_file(settings, "tokens")


class Tokens:
    """The tokens of the file as it is now: it is read again when it has changed, so that a new token needs no restart.

    A line, or a file, that cannot be read grants nothing, and `warn` is called once for each change.
    """

    def __init__(self, settings: Settings, warn: Callable[[str], None]):
        """Read the file; if there is no token, create one for the owner. Raise Unreadable if the file cannot be used."""
        self._settings = settings
        self._path = str(token_file(settings))
        self._warn = warn
        self._stamp = self._file_stamp()
        self._tokens = self._merge_tokens(_read(token_file(settings)))
        if not self._tokens:
            self._tokens[make_token(settings, Role.OWNER.value, "")] = Bearer(Role.OWNER, "")
            self._stamp = self._file_stamp()
        self._lock = threading.Lock()

    def bearer(self, shown: bytes) -> Bearer | None:
        """Return who bears this token, or None."""
        with self._lock:
            stamp = self._file_stamp()
            if stamp != self._stamp:
                self._stamp = stamp
                self._tokens = self._merge_tokens(self._read_again())
            # All tokens are compared, each in constant time, so that the time reveals nothing about any of them.
            bearers = [bearer for token, bearer in self._tokens.items() if hmac.compare_digest(token.encode(), shown)]
        return bearers[0] if bearers else None

    def _read_again(self) -> _TokenFile:
        try:
            return _read(token_file(self._settings))
        except OmoideError as error:  # fallback: no token of the file is valid until it can be read
            return _TokenFile({}, [f"no token is valid any more: {error}"])

    def _merge_tokens(self, file: _TokenFile) -> dict[str, Bearer]:
        """Return the tokens of the file and those of the variables, which are the owner's."""
        for problem in file.problems:
            self._warn(problem)
        tokens = dict(file.tokens)
        for variable in VARIABLES:
            given = os.environ.get(variable)
            if given is None:
                continue
            if len(given) < _MIN_LENGTH or not given.isascii() or not given.isprintable() or " " in given:
                raise InvalidInput(f"{variable} must be at least {_MIN_LENGTH} printable ASCII characters without spaces")
            tokens[given] = Bearer(Role.OWNER, "")
        return tokens

    def _file_stamp(self) -> tuple[int, int, int]:
        try:
            state = os.stat(self._path)  # noqa: PTH116 - for each request, and three times as fast as a Path
        except OSError:  # fallback: reading the file reports what is wrong
            return 0, 0, 0
        return state.st_mtime_ns, state.st_size, state.st_mode


def make_token(
    settings: Settings,
    role: str,
    name: str,
    projects: Iterable[str] = (),
    layers: Iterable[str] = (),
    warn: Callable[[str], None] = lambda _: None,
) -> str:
    """Return the token with this role, name and bounds; create it if there is none.

    `warn` is called for each line of the file that cannot be read. Raise InvalidInput for a name that the file cannot store.
    """
    name = " ".join(name.split())
    if "#" in name or "=" in name or not name.isprintable():
        raise InvalidInput(f"{name!r} cannot be the name of a token: use none of #, = and control characters")
    paths = dict.fromkeys(map(model.check_project_path, projects))
    bearer = Bearer(Role(role), name, tuple(paths), tuple(dict.fromkeys(map(Layer, layers))))
    path = token_file(settings)
    file = _read(path)
    for problem in file.problems:
        warn(problem)
    for token, other in file.tokens.items():
        if other == bearer:
            return token
    import secrets  # lazy: start-up: 15 ms that only a new token needs

    token = secrets.token_urlsafe(32)
    descriptor = state_files.open_private(path, os.O_RDWR | os.O_APPEND)
    try:
        with state_files.file_errors(path):
            size = os.fstat(descriptor).st_size
            os.lseek(descriptor, max(size - 1, 0), os.SEEK_SET)
            separator = b"" if os.read(descriptor, 1) in (b"", b"\n") else b"\n"  # an editor may omit the last newline
            os.write(descriptor, separator + f"{token} {_format_line(bearer)}\n".encode())
    finally:
        os.close(descriptor)
    return token


def _format_line(bearer: Bearer) -> str:
    projects = f"projects={','.join(quote(path) for path in bearer.projects)}" if bearer.projects else ""
    layers = f"layers={','.join(bearer.layers)}" if bearer.layers else ""
    return " ".join(filter(None, (bearer.role.value, projects, layers, bearer.name)))


def _read(path: Path) -> _TokenFile:
    """Read the file. Raise Unreadable if it cannot be used at all."""
    try:
        with state_files.file_errors(path):
            data = path.read_bytes()
            mode = path.stat().st_mode
    except FileNotFoundError:
        return _TokenFile({}, ())
    if os.name == "posix" and mode & 0o077:
        raise Unreadable(f"{path} is open to other users: run chmod 600 '{path}', and create new tokens")
    tokens: dict[str, Bearer] = {}
    problems: list[str] = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            words = line.decode().partition("#")[0].split()
            if words:
                tokens[_token(words[0])] = _bearer(words[1:])
        except UnicodeDecodeError:  # fallback: the other lines; this one is reported
            problems.append(f"{path}, line {number} grants nothing: it is not UTF-8; write it again, or delete it")
        except InvalidInput as error:
            problems.append(f"{path}, line {number} grants nothing: {error}")
    return _TokenFile(tokens, problems)


def _token(word: str) -> str:
    if len(word) < _MIN_LENGTH:
        raise InvalidInput(f"the token is shorter than {_MIN_LENGTH} characters; a line is {_SYNTAX}")
    return word


def _bearer(words: Sequence[str]) -> Bearer:
    """Parse what follows the token in a line. Raise InvalidInput if it is malformed."""
    if not words or words[0] not in list(Role):
        raise InvalidInput(f"there is no role; a line is {_SYNTAX}")
    bounds: dict[str, list[str]] = {}
    rest = list(words[1:])
    while rest and rest[0].startswith(("projects=", "layers=")):
        kind, _, values = rest.pop(0).partition("=")
        if kind in bounds or not all(values.split(",")):
            raise InvalidInput(f"{kind}= appears twice, or is empty; a line is {_SYNTAX}")
        bounds[kind] = values.split(",")
    if any("=" in word for word in rest):  # a misspelt limit, which as a part of the name would limit nothing
        raise InvalidInput(f"limits are projects= and layers=, before the name, which has no =; a line is {_SYNTAX}")
    projects = tuple(model.check_project_path(unquote(path)) for path in bounds.get("projects", ()))
    unknown = set(bounds.get("layers", ())) - set(Layer)
    if unknown:
        raise InvalidInput(f"there is no layer {', '.join(sorted(unknown))!s:.100}: use {', '.join(Layer)}")
    return Bearer(Role(words[0]), " ".join(rest), projects, tuple(map(Layer, bounds.get("layers", ()))))
