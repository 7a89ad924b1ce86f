"""Why an image is not there: the words that stand in ledgers, and what follows from each."""

from __future__ import annotations

import http.client
import socket
import ssl

from obelics_pipeline.forgotten import FORGOTTEN

KNOWN_ABUSE = "known_abuse"  # on a hash list: image_safety.known_abuse
FACES = "faces"  # the function of image_safety.faces says so
OPT_OUT_SUFFIX = "_header"  # X-Robots-Tag: noai -> noai_header

# A rule of the config, or the site's wish, decided; everything else is a failure of the network or of the bytes.
DROPPED = frozenset(
    {"robots_txt", "ai_txt", "tdm_reserved", "private_address", "too_large", "too_many_pixels", "too_many_frames"}
    | {KNOWN_ABUSE, FACES, FORGOTTEN}
)

# Worth another try within the same unit, after the host has had a pause.
TRY_AGAIN = frozenset({"timeout", "reset", "incomplete_body", "http_408", "http_425", "http_429"})

# May succeed in a later run: `retryable` in the results.
RETRYABLE = TRY_AGAIN | {
    "dns", "refused", "unreachable", "tls", "proxy_error", "not_http",
    "robots_unavailable", "host_down", "crawl_delay_too_long",
}  # fmt: skip


class FetchError(Exception):
    """One image is not to be had; `reason` is a word of the ledger."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after  # seconds the server asked for, if it did


class Redirected(FetchError):
    """The server sends us elsewhere; `location` is the header's value, not yet joined or checked."""

    def __init__(self, location: str) -> None:
        super().__init__("redirect")
        self.location = location


def is_server_error(reason: str) -> bool:
    """Whether the reason is a 5xx answer."""
    return len(reason) == 8 and reason.startswith("http_5")


def is_retryable(reason: str) -> bool:
    """Whether a later run may succeed."""
    return reason in RETRYABLE or is_server_error(reason)


def try_again(reason: str) -> bool:
    """Whether another try within the same unit is worth a request."""
    return reason in TRY_AGAIN or is_server_error(reason)


def is_dropped(reason: str) -> bool:
    """Whether a rule dropped the image, rather than a failure."""
    return reason in DROPPED or reason.endswith(OPT_OUT_SUFFIX)


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
