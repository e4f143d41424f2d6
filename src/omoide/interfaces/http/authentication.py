"""Who sends an HTTP request: Host and Origin are checked, a bearer token is required, and each bearer has a rate limit."""

from collections.abc import Callable, Container, Iterable

from omoide.interfaces.http.limits import TokenBucket
from omoide.interfaces.http.messages import HttpError, RequestHead, parse_authority
from omoide.interfaces.http.tokens import Bearer

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Authenticator:
    """Find the bearer of each request, or refuse it.

    `find_bearer` returns who bears a token, or None; `hosts` are the names of this server besides those of the loopback
    interface; `rate` is the limit of each bearer, in requests per second and at once.
    """

    def __init__(
        self,
        find_bearer: Callable[[bytes], Bearer | None],
        hosts: Iterable[str] = (),
        rate: tuple[float, float] = (200, 1_000),
    ):
        self._find_bearer = find_bearer
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        self._rate = rate
        self._buckets: dict[Bearer, TokenBucket] = {}
        self._failed_attempts = TokenBucket(5, 20)

    def authenticate(self, head: RequestHead, origins: Container[str] = ()) -> Bearer:
        """Return who sends the request.

        `origins` are those of pages that may send requests besides this server's own. Raise HttpError 403 for a host or
        origin that is not this server's, which a page in a browser sends; 401 without a valid token; 429 above the rate
        limit.
        """
        self.check_origin(head, origins)
        scheme, _, token = (head.get("authorization") or "").partition(" ")
        bearer = self._find_bearer(token.strip().encode("latin-1") if scheme.lower() == "bearer" else b"")
        if bearer is None:
            if not self._failed_attempts.take():
                raise HttpError(429, "too many requests without a valid token: try again in a second", Retry_After="1")
            why = "a bearer token is required: `omoide mcp token` prints it"
            raise HttpError(401, why, WWW_Authenticate='Bearer realm="omoide"')
        if not self._buckets.setdefault(bearer, TokenBucket(*self._rate)).take():
            raise HttpError(429, "too many requests: try again in a second", Retry_After="1")
        return bearer

    def check_origin(self, head: RequestHead, origins: Container[str] = ()) -> None:
        """Raise HttpError 403 for a host or origin that is not this server's and not among `origins`."""
        host = head.get("host") or ""
        if not self._is_own_host(host):
            raise HttpError(403, f"host {host!s:.100} is not served here: allow it with --allow-host")
        origin = head.get("origin")
        if origin is not None and origin not in origins and not self._is_own_host(origin.partition("://")[2]):
            raise HttpError(403, f"origin {origin!s:.100} may not send requests here")

    def _is_own_host(self, authority: str) -> bool:
        """Return True for a name of this server, with or without a port. An authority with a user never is."""
        parsed = parse_authority(authority)
        return parsed is not None and parsed[0] in self._hosts
