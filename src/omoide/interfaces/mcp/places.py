"""The places for connections: so many at once, and who has not shown that it may ask makes room for a newcomer."""

import socket
import threading
from contextlib import suppress


class Places:
    def __init__(self, most: int):
        self._most = most
        self._taken = 0
        self._unadmitted: dict[socket.socket, None] = {}
        """Connections without an admitted request so far, the oldest first."""
        self._evicted: set[socket.socket] = set()
        """Connections whose place another one has, until their threads are done with them."""
        self._lock = threading.Lock()

    def take(self, peer: socket.socket) -> bool:
        """Gives the connection a place, if need be that of the oldest unadmitted one, which is shut down. False: none is
        free, and every other connection has been admitted."""
        with self._lock:
            if self._taken < self._most:
                self._taken += 1
            elif self._unadmitted:
                self._evict(next(iter(self._unadmitted)))
            else:
                return False
            self._unadmitted[peer] = None
            return True

    def _evict(self, peer: socket.socket) -> None:
        del self._unadmitted[peer]
        self._evicted.add(peer)
        with suppress(OSError):  # fallback: it is closed already, and its thread is about to end
            peer.shutdown(socket.SHUT_RDWR)

    def admit(self, peer: socket.socket) -> None:
        """From now on the connection keeps its place until it leaves."""
        with self._lock:
            self._unadmitted.pop(peer, None)

    def leave(self, peer: socket.socket) -> None:
        """Call this before the connection is closed: a closed socket could not be told from a new one."""
        with self._lock:
            self._unadmitted.pop(peer, None)
            if peer in self._evicted:
                self._evicted.remove(peer)
            else:
                self._taken -= 1
