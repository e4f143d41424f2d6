"""Where an HTTP server listens."""

import errno
import socket
from collections.abc import Sequence

from omoide.errors import InvalidInput
from omoide.interfaces.http.authentication import LOOPBACK
from omoide.interfaces.http.messages import parse_authority

_INVALID = "{!r} is not an address: use HOST:PORT or PORT, such as 127.0.0.1:8765"


def show_host(host: str) -> str:
    """Return a host as a URL has it."""
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int, address: str, names: Sequence[str]) -> socket.socket:
    """Listen at the address. Raise InvalidInput if that is impossible, or unsafe without a host name."""
    try:
        socket.getaddrinfo(host, port)  # first: a mistyped host is not one that other machines can reach
    except (OSError, UnicodeError) as error:
        raise InvalidInput(_INVALID.format(address)) from error
    if host not in LOOPBACK and not names:
        raise InvalidInput(f"{host} can be reached from other machines: name the host they use with --allow-host")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        what = "a host of this machine" if error.errno == errno.EADDRNOTAVAIL else "another port"
        raise InvalidInput(f"cannot listen at {address} ({error.strerror}): choose {what}") from error


def parse_address(address: str) -> tuple[str, int]:
    """Parse HOST:PORT, HOST or PORT."""
    parsed = parse_authority(f":{address}" if address.isdigit() else address)
    if parsed is None:
        raise InvalidInput(_INVALID.format(address))
    host, port = parsed
    return host or "127.0.0.1", 8765 if port is None else port
