"""One request in progress: it reports its progress, and learns when the client no longer waits for the answer."""

from collections.abc import Callable
from typing import Any

from omoide.interfaces.mcp import jsonrpc


class Cancelled(Exception):
    """The client cancelled the request: it gets no answer."""


class RequestContext:
    """What a tool needs of the request that called it: report progress, and stop when the client cancels.

    `meta` is the request's `_meta`; `send` sends a notification to the client; `is_gone` returns True once the client has
    closed the connection.
    """

    def __init__(
        self,
        meta: dict[str, Any] | None = None,
        send: Callable[[bytes], None] | None = None,
        is_gone: Callable[[], bool] = lambda: False,
    ):
        token = (meta or {}).get("progressToken")
        self._token = token if isinstance(token, (int, str)) and not isinstance(token, bool) else None
        self._send = send
        self._is_gone = is_gone
        self.cancelled = False

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report progress, if the client asked for it. Raise Cancelled if it no longer waits."""
        self.check()
        if self._token is None or self._send is None:
            return
        params: dict[str, Any] = {"progressToken": self._token, "progress": done}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        self._send(jsonrpc.notification("notifications/progress", params))

    def check(self) -> None:
        """Raise Cancelled if the client no longer waits for the answer."""
        if self.cancelled or self._is_gone():
            raise Cancelled
