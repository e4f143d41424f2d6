"""One request being worked on: it can tell how far it is, and learns when nobody waits for it any more."""

from collections.abc import Callable
from typing import Any

from omoide.interfaces.mcp import jsonrpc


class Cancelled(Exception):
    """Ends the work; what was asked gets no answer."""


class RequestContext:
    def __init__(
        self,
        meta: dict[str, Any] | None = None,
        send: Callable[[bytes], None] | None = None,
        gone: Callable[[], bool] = lambda: False,
    ):
        token = (meta or {}).get("progressToken")
        self._token = token if isinstance(token, (int, str)) and not isinstance(token, bool) else None
        self._send = send
        self._gone = gone
        self.cancelled = False

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Tells the client, if it asked to be told; raises Cancelled if it no longer waits."""
        self.check()
        if self._token is None or self._send is None:
            return
        params: dict[str, Any] = {"progressToken": self._token, "progress": done}
        if total is not None:
            params["total"] = total
        if note:
            params["message"] = note
        self._send(jsonrpc.notification("notifications/progress", params))

    def check(self) -> None:
        if self.cancelled or self._gone():
            raise Cancelled
