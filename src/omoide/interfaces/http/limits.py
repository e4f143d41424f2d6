"""Limits of an HTTP server: a rate for requests and a number of connections."""

import socket
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress

HEAD_SECONDS = 2.0
"""Time limit for the head of a request: from the connection, later from its first byte."""
BODY_SECONDS = 9.0
"""Time limit for the body of a request."""
DRAIN_SECONDS = 2.0
"""How long a refused client may send on before its connection is closed."""


class TokenBucket:
    """A rate limit: `rate` requests per second, and up to `burst` at once."""

    def __init__(self, rate: float, burst: float):
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._refilled_at = time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Take one request out of the bucket. Return False if the bucket is empty."""
        with self._lock:
            now = time.monotonic()
            self._left = min(self._burst, self._left + (now - self._refilled_at) * self._rate)
            self._refilled_at = now
            if self._left < 1:
                return False
            self._left -= 1
            return True


class ConnectionSlots:
    """A limit on open connections. A client that has not authenticated yields its slot to a new connection."""

    def __init__(self, limit: int):
        self._limit = limit
        self._taken = 0
        self._unadmitted: dict[Hashable, Callable[[], None]] = {}
        """Connections without an authenticated request so far, oldest first, each with what ends it."""
        self._evicted: set[Hashable] = set()
        """Connections whose slot was given away, until they have ended."""
        self._lock = threading.Lock()

    def take(self, peer: Hashable, end: Callable[[], None]) -> bool:
        """Give the connection a slot, if necessary that of the oldest unadmitted one, which is ended.

        `end` is called when the connection itself must yield its slot. Return False if no slot is free and every other
        connection has been admitted.
        """
        with self._lock:
            if self._taken < self._limit:
                self._taken += 1
            elif self._unadmitted:
                self._evict(next(iter(self._unadmitted)))
            else:
                return False
            self._unadmitted[peer] = end
            return True

    def _evict(self, peer: Hashable) -> None:
        end = self._unadmitted.pop(peer)
        self._evicted.add(peer)
        end()

    def admit(self, peer: Hashable) -> None:
        """Let the connection keep its slot until `leave`."""
        with self._lock:
            self._unadmitted.pop(peer, None)

    def leave(self, peer: Hashable) -> None:
        """Free the slot. Call this before closing a socket: a closed one could compare equal to a new one."""
        with self._lock:
            self._unadmitted.pop(peer, None)
            if peer in self._evicted:
                self._evicted.remove(peer)
            else:
                self._taken -= 1


def shut_down(peer: socket.socket) -> None:
    """End a connection that another thread serves."""
    with suppress(OSError):  # fallback: it is closed already, and its thread is about to end
        peer.shutdown(socket.SHUT_RDWR)
