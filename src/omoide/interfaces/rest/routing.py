"""The table of routes: each names its operation, the values it takes and answers, and the function that does it."""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

import msgspec

from omoide.errors import AlreadyDone, Changed
from omoide.interfaces.rest import values
from omoide.interfaces.rest.problems import InvalidRequest
from omoide.model import Memory, Scope

if TYPE_CHECKING:  # the service loads with the store, at the first request
    from omoide.model import Project
    from omoide.service import Service

Q = TypeVar("Q")
B = TypeVar("B")
T = TypeVar("T")


_KEY = re.compile(r"[!-~]{1,255}")


class NoQuery(values.Input, frozen=True):
    """No parameters."""


class Answer(NamedTuple):
    """What a route answers: a value that becomes JSON, or nothing."""

    value: Any = None
    status: int = 0
    """0: that of the route."""
    headers: Mapping[str, str] = {}
    version: int | None = None
    """The version of the memory that is answered, for its ETag."""


class Call(Generic[Q, B]):
    """One request to a route, parsed."""

    def __init__(
        self,
        service: "Service",
        request_path: str,
        path: Mapping[str, Any],
        headers: Mapping[str, str],
        query: Q,
        body: B,
        request: bytes = b"",
    ):
        """Describe a request; `request` is all that makes it the same one, for its idempotency key."""
        self._request = request
        self.replayed = False
        """An operation with the same idempotency key was done before, and this is its result."""
        self.service = service
        self.request_path = request_path
        self.path = path
        self.query = query
        self.body = body
        self._headers = headers

    @cached_property
    def project_id(self) -> int:
        """The number of the project in the path; 0 is the global layer."""
        return int(self.path["projectId"])

    @cached_property
    def project(self) -> "Project":
        """The project in the path. Raises NotFound where the token may not see it."""
        return self.service.project_by_number(self.project_id)

    @cached_property
    def scope(self) -> Scope:
        """The scope of the project in the path. Raises NotFound where the token may not see it."""
        return project_scope(self.service, self.project_id)

    def session_scope(self, name: str | None) -> Scope:
        """The scope of a session of the project in the path; None: that of the project itself."""
        return self.scope if name is None else Scope.session(self.scope.path, name)

    @property
    def memory_ref(self) -> str:
        """The memory in the path, as the service takes it."""
        return f"#{self.path['memoryId']}"

    def once(self, scope: Scope, operation: "Callable[[Service], T]") -> T:
        """Do an operation, or return what it did before with the same Idempotency-Key; `scope` is what it is about."""
        key = self._headers.get("idempotency-key")
        if key is None:
            return operation(self.service)
        try:
            return operation(self.service.with_idempotency_key(key, self._request, scope=scope))
        except AlreadyDone as done:
            self.replayed = True
            return cast("T", done.result)

    def if_version(self) -> int | None:
        """Return the version that If-Match requires; None: any. Raises Changed where no current version can match."""
        given = self._headers.get("if-match")
        if given is None or given.strip() == "*":
            return None
        if not given.strip():
            raise InvalidRequest("If-Match must name an ETag, or be left out", {"header": "If-Match"})
        versions = {version for tag in given.split(",") if (version := tag_version(tag)) is not None}
        if len(versions) == 1:
            return versions.pop()
        current = self.service.show(self.memory_ref, scope=self.scope).version
        if current not in versions:
            raise Changed(f"#{self.path['memoryId']} is at version {current}, which If-Match does not name: read it again")
        return current

    def memory(self, value: Memory, status: int = 0, headers: Mapping[str, str] | None = None) -> Answer:
        """Return the answer for a memory of this project."""
        return Answer(values.memory(value, self.project_id), status, headers or {}, value.version)


class Operation(NamedTuple):
    """One operation."""

    method: str
    path: str
    operation: str
    """Its operationId."""
    run: Callable[[Any], Answer]
    summary: str
    description: str
    tag: str
    query: type[Any]
    body: type[Any] | None
    answer: type[Any] | None
    status: int
    statuses: Sequence[int]
    """The statuses of errors that only this route has, beside those that every route may answer."""
    example: Any
    """Of the answer."""
    body_example: Any
    if_match: bool
    idempotent: bool
    public: bool
    """It needs no token."""


ROUTES: list[Operation] = []
"""Every operation, in the order of the OpenAPI document."""

Function = TypeVar("Function", bound=Callable[..., Answer])


def route(
    method: str,
    path: str,
    operation: str,
    *,
    query: type[Any] = NoQuery,
    body: type[Any] | None = None,
    answer: type[Any] | None = None,
    status: int = 200,
    statuses: Sequence[int] = (),
    example: Any = None,
    body_example: Any = None,
    if_match: bool = False,
    idempotent: bool = False,
    public: bool = False,
) -> Callable[[Function], Function]:
    """Return a decorator that adds a function to the table of routes; its docstring becomes the description."""

    def add(function: Function) -> Function:
        summary, _, description = (function.__doc__ or "").partition("\n\n")
        tag = function.__module__.rpartition(".")[2]
        ROUTES.append(
            Operation(
                method,
                path,
                operation,
                function,
                summary.strip().removesuffix("."),
                " ".join(description.split()),
                tag,
                query,
                body,
                answer,
                status,
                statuses,
                example,
                body_example,
                if_match,
                idempotent,
                public,
            )
        )
        return function

    return add


def project_scope(service: "Service", number: int) -> Scope:
    """Return the scope of the project with this number; 0 is the global layer. Raises NotFound."""
    return Scope.project(service.project_by_number(number).path) if number else Scope.everywhere()


def check_key(key: str | None) -> None:
    """Raise InvalidRequest if a request has an Idempotency-Key that is not valid."""
    if key is not None and not _KEY.fullmatch(key):
        detail = "Idempotency-Key must be 1 to 255 printable ASCII characters"
        raise InvalidRequest(detail, {"header": "Idempotency-Key"})


def make_tag(version: int, body: bytes) -> str:
    """Return the ETag of a memory: its version, then a check sum of the answer, which counts references too."""
    return f'"{version}-{zlib.crc32(body):08x}"'


def tag_version(tag: str) -> int | None:
    """Return the version in an ETag; None where it is not one of ours, or a weak one."""
    number, dash, _ = tag.strip().strip('"').partition("-")
    return int(number) if dash and number.isascii() and number.isdigit() and len(number) < 10 else None


def encode(value: Any) -> bytes:
    """Return a value as JSON."""
    return msgspec.json.encode(value)
