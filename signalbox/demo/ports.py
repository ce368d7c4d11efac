"""Free ports of this machine."""

from __future__ import annotations

import errno
import socket

HOST = "127.0.0.1"
TRIES = 50
LAST = 65535


class NoFreePort(Exception):
    """No port is free."""

    def __init__(self, first: int) -> None:
        super().__init__(
            f"No port from {first} to {_end(first) - 1} is free. Stop what uses them, or choose"
            " another with --port."
        )


def free(first: int) -> int:
    """The first port from `first` on that nobody listens on. Raises NoFreePort."""
    for port in range(first, _end(first)):
        if not _answers(port) and _can_be_bound(port):
            return port
    raise NoFreePort(first)


def _end(first: int) -> int:
    return min(first + TRIES, LAST + 1)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _can_be_bound(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno in {errno.EADDRINUSE, errno.EACCES}:
                return False
            raise
        return True
