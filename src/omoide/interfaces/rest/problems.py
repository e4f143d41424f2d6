"""Errors as RFC 9457 problem details, by the one table of error codes."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec
from litestar import Response

from omoide.errors import InvalidInput, OmoideError
from omoide.interfaces.errors import codes_for
from omoide.interfaces.http.messages import HttpError
from omoide.interfaces.rest import values

MEDIA_TYPE = "application/problem+json"
_TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Titles of RFC 9110 that Python has under an older name."""


class Refusal(NamedTuple):
    """The answer to a request that failed."""

    status: int
    body: bytes
    headers: dict[str, str]


class InvalidRequest(Exception):
    """A request of the wrong shape; `place` names the field or parameter that is wrong."""

    def __init__(self, detail: str, place: dict[str, str] | None = None, status: int = 422):
        super().__init__(detail)
        self.detail = detail
        self.place = place
        self.status = status


def render(
    status: int, detail: str, errors: Sequence[dict[str, str]] = (), headers: Mapping[str, str] | None = None
) -> Refusal:
    """Return an answer for a status, with a sentence that says what is wrong and what to do."""
    title = _TITLES.get(status) or HTTPStatus(status).phrase
    problem = values.ProblemAnswer(type="about:blank", title=title, status=status, detail=detail, errors=list(errors))
    return Refusal(status, msgspec.json.encode(problem), dict(headers or {}))


def from_error(error: OmoideError) -> Refusal:
    """Return the answer for an error of the service."""
    detail = str(error)
    errors = []
    if isinstance(error, InvalidInput) and error.field:
        errors.append({"pointer": f"/{values.field_key(error.field)}", "detail": detail})
    codes = codes_for(error)
    headers = {"Retry-After": str(codes.retry_after)} if codes.retry_after else {}
    return render(codes.rest_status, detail, errors, headers)


def from_request(error: InvalidRequest) -> Refusal:
    """Return the answer for a request of the wrong shape."""
    errors = [] if error.place is None else [{**error.place, "detail": error.detail}]
    return render(error.status, error.detail, errors)


def from_http(error: HttpError) -> Refusal:
    """Return the answer for a request that was refused before its body was read."""
    return render(error.status, error.why, headers=error.headers)


def respond(refusal: Refusal) -> Response[bytes]:
    """Return an answer as a response of Litestar."""
    return Response(refusal.body, status_code=refusal.status, headers=refusal.headers, media_type=MEDIA_TYPE)


def parse(text: bytes, type: Any) -> Any:
    """Return a body of JSON as a value of this type. Raise InvalidRequest, naming the field that is wrong."""
    try:
        return msgspec.json.decode(text, type=type)
    except msgspec.ValidationError as error:
        raise InvalidRequest(*_locate(str(error), "pointer")) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"the body is not JSON: {error}", status=400) from error


def parse_parameters(given: dict[str, Any], type: Any) -> Any:
    """Return the parameters of a query as a value of this type. Raise InvalidRequest, naming the parameter."""
    try:
        value = msgspec.convert(given, type, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidRequest(*_locate(str(error), "parameter")) from error
    if not any(isinstance(text, str) and text.lower() == "null" for text in given.values()):
        return value
    for field in msgspec.structs.fields(type):  # msgspec reads the text null as None
        if field.encode_name in given and getattr(value, field.name) is None:
            raise InvalidRequest(
                f"{field.encode_name} must not be null: leave the parameter out", {"parameter": field.encode_name}
            )
    return value


def _locate(message: str, kind: str) -> tuple[str, dict[str, str] | None]:
    """Split msgspec's message into what is wrong and where: `Expected `str`, got `int` - at `$.tags[0]``."""
    what, _, where = message.partition(" - at `$")
    path = where.rstrip("`").replace("[", ".").replace("]", "")
    if not path and "field `" in what:
        path = "." + what.split("`")[1]
    if not path:
        return what, None
    pointer = path.replace(".", "/") if kind == "pointer" else path.removeprefix(".")
    return f"{pointer}: {what}", {kind: pointer}
