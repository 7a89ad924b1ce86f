"""A web site that keeps its connections, and knows over which of them it was asked."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.stages.fetch.site import Behaviour, Request, Site

Answers = list[list[str]]  # the addresses that each look-up finds


def server_tls(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "pem", folder / "key")
    return context


@dataclass
class KeepingSite(Site):
    """As `Site`, but a connection lasts until a behaviour closes it, or the client does.

    `over` has the number of its connection for each request of `log`; `now` and `most` count those that are open.
    """

    over: list[int] = field(default_factory=list)
    connections: int = 0
    now: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        self.changed = threading.Condition()

    def wait(self, until: Callable[[KeepingSite], bool]) -> bool:
        """Whether it comes to that, before a test must end."""
        with self.changed:
            return self.changed.wait_for(lambda: until(self), 20)

    def _serve(self, sock: socket.socket) -> None:
        with self.changed:
            number, self.connections, self.now = self.connections, self.connections + 1, self.now + 1
            self.most = max(self.most, self.now)
        with suppress(OSError), sock:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            with sock:
                while (request := self._read(sock)) is not None:
                    self.log.append(request)
                    self.over.append(number)
                    self.pages.get(request.path, self.fallback)(sock, request)
        with self.changed:
            self.now -= 1
            self.changed.notify_all()


def then_close(behave: Behaviour) -> Behaviour:
    """The same, and the connection is closed without a word."""

    def behave_and_close(sock: socket.socket, request: Request) -> None:
        behave(sock, request)
        sock.close()

    return behave_and_close


def hang_up(sock: socket.socket, request: Request) -> None:
    """No answer, and the end."""
    sock.close()


def reset_now(sock: socket.socket, request: Request) -> None:
    """No answer, and a reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    sock.close()


def tunnel(sock: socket.socket, request: Request) -> None:
    """What a proxy does after CONNECT."""
    host, _, port = request.path.rpartition(":")
    with socket.create_connection((host, int(port))) as there:
        sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = threading.Thread(target=_pump, args=(there, sock), daemon=True)
        back.start()
        _pump(sock, there)
        back.join()
    sock.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
