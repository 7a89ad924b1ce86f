"""A total deadline over everything a socket does: connect, handshake, headers, body, however slowly they drip."""

from __future__ import annotations

import socket
import ssl
import time
from typing import Any


class Deadline:
    """A moment after which nothing is waited for any more."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left. Raises TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("deadline exceeded")
        return left

    def left(self) -> float:
        """Seconds left, 0 when there are none."""
        return max(0.0, self._end - time.monotonic())

    def extend(self, seconds: float) -> None:
        """Grant time that was spent waiting for ourselves, not for the server."""
        self._end += seconds


class NoWait(Deadline):
    """Nothing is waited for at all. Where nothing is there yet a socket raises what `NOT_YET` names."""

    def __init__(self) -> None:
        super().__init__(0.0)

    def remaining(self) -> float:
        """Seconds left: none, and that is no error."""
        return 0.0


NOT_YET = (BlockingIOError, ssl.SSLWantReadError)


# A socket's timeout bounds one call. Set anew from the deadline before each call, it bounds them all, without a
# watchdog thread that might close a descriptor which has meanwhile become another connection's.
class DeadlineSocket(socket.socket):
    """A socket that never outlives its deadline. `received` counts the bytes that came since `begin`."""

    deadline: Deadline
    received = 0

    def begin(self, deadline: Deadline) -> None:
        """Begin another request, with a deadline of its own."""
        self.deadline, self.received = deadline, 0

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """As socket.recv_into, within the deadline."""
        self.settimeout(self.deadline.remaining())
        count = super().recv_into(*args, **kwargs)
        self.received += count
        return count

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        """As socket.sendall, within the deadline."""
        self.settimeout(self.deadline.remaining())
        super().sendall(*args, **kwargs)

    def gettimeout(self) -> float:
        """What is left: this is the timeout that a TLS handshake over this socket gets."""
        return self.deadline.remaining()


class DeadlineTLSSocket(ssl.SSLSocket):
    """The same for TLS. `begin` comes once the handshake, bounded by the socket below, is done."""

    deadline: Deadline | None = None
    received = 0

    def begin(self, deadline: Deadline) -> None:
        """Begin another request, with a deadline of its own."""
        self.deadline, self.received = deadline, 0

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """As SSLSocket.recv_into, within the deadline."""
        if self.deadline is not None:
            self.settimeout(self.deadline.remaining())
        count = super().recv_into(*args, **kwargs)
        self.received += count
        return count

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        """As SSLSocket.sendall, within the deadline."""
        if self.deadline is not None:
            self.settimeout(self.deadline.remaining())
        super().sendall(*args, **kwargs)


def tls_context() -> ssl.SSLContext:
    """Ordinary verification (SSL_CERT_FILE is honoured); its sockets can keep a deadline."""
    context = ssl.create_default_context()
    context.sslsocket_class = DeadlineTLSSocket
    return context
