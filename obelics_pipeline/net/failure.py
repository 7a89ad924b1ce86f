"""Why a request failed: one exception, and the word of the ledger for what a socket, TLS or HTTP raises."""

from __future__ import annotations

import http.client
import socket
import ssl
from copy import copy
from typing import Self


class FetchError(Exception):
    """One image cannot be fetched; `reason` is a word of the ledger."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after  # seconds the server asked for, if it did

    def bare(self) -> Self:
        """The same without where it was raised: for keeping. What was raised holds frames, and these hold bodies."""
        return copy(self)  # by its fields: neither traceback nor context is one


class Redirected(FetchError):
    """The server sends us elsewhere; `location` is the header's value, not yet joined or checked."""

    def __init__(self, location: str) -> None:
        super().__init__("redirect")
        self.location = location


def network_reason(error: Exception) -> str:
    """The word for an exception of the socket, TLS or HTTP layer."""
    for kind, reason in _KINDS:
        if isinstance(error, kind):
            return reason
    return "unreachable" if isinstance(error, OSError) else "fetch_error"


# The order matters: the first match counts, and RemoteDisconnected is both a reset and a bad status line.
_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (TimeoutError, "timeout"),
    (socket.gaierror, "dns"),
    (ConnectionRefusedError, "refused"),
    (ssl.SSLEOFError, "reset"),
    (ssl.SSLError, "tls"),
    (ssl.CertificateError, "tls"),
    (ConnectionError, "reset"),
    (http.client.IncompleteRead, "incomplete_body"),
    (http.client.InvalidURL, "bad_url"),
    (http.client.HTTPException, "not_http"),
)
