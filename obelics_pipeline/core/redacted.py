"""What must not be read by others, taken out of what is written or shown: passwords, keys and signatures of URLs.

A URL keeps its host, path and the other parameters of its query, so that a person knows which file is meant. Options of
a file system (`storage_options`) that hold a secret are left out: they come from the environment when they are needed.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import unquote

HIDDEN = "***"
OPTIONS = "storage_options"  # the key of the config below which fsspec's options lie, by protocol
CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")  # protocols whose URLs name a container before an @: adlfs
METHODS = ("anon", "browser", "cache", "cloud", "google_default")  # what gcsfs takes for a token that is none

Value = TypeVar("Value")

_USER = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*)://"
    r"([^\s/?#\"<>]*|[^\s/?#@:\[\"<>]*:(?!\d*[/?#])[^\s@\"<>]*)@"  # a password may hold what should be escaped
)
_PARAMETER = re.compile(r"([?&;])([^\s?&;=#\"'<>]+)=([^\s&;#\"<>]+)")
_PARTS = ("token", "secret", "signature", "password", "passwd", "passphrase", "credential", "authorization", "cookie",
          "accesskey", "connectionstring", "xamz", "xgoog")  # fmt: skip
_ENDS = ("key", "sig", "auth")
_NAMES = ("keypairid", "googleaccessid", "policy", "pwd", "pass", "jwt", "hdnea", "hdnts")
"""How names of secret options and parameters are made, without signs and in lower case: those of fsspec's s3, gs, az,
http, ftp, sftp, webdav and smb, and of signed URLs of S3 (X-Amz-…), Google (X-Goog-…), Azure (sig), CloudFront
(Signature, Policy, Key-Pair-Id) and Akamai (hdnea, hdnts)."""


def redacted(value: Value) -> Value:
    """A text, or JSON values with texts in them, without secrets; one that holds none is as it was."""
    return _redacted(value)  # type: ignore[no-any-return]


def hide_in_tracebacks() -> None:
    """From now on this process prints the traceback of an error that ends it without secrets."""
    sys.excepthook = _print_traceback


def _print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.stderr.write(_text("".join(traceback.format_exception(kind, error, trace))))


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {key: _options(child) if key == OPTIONS else _redacted(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(child) for child in value]
    return value


def _text(text: str) -> str:
    if "://" in text:
        text = _USER.sub(_without_user, text)
    return _PARAMETER.sub(_without_value, text) if "=" in text else text


def _without_user(found: re.Match[str]) -> str:
    protocol, user = found.groups()
    if not user or (protocol.lower() in CONTAINERS and ":" not in user):
        return found[0]
    return f"{protocol}://{HIDDEN}@"


def _without_value(found: re.Match[str]) -> str:
    mark, name, _ = found.groups()
    return f"{mark}{name}={HIDDEN}" if _names_secret(unquote(name)) else found[0]


def _options(value: Any) -> Any:
    """Options of file systems without those that are secret, and without what holds nothing else."""
    if not isinstance(value, Mapping):
        return HIDDEN if isinstance(value, str) else _redacted(value)  # no options: refused, and what it says is shown
    kept = {name: child for name, child in value.items() if not (_names_secret(str(name)) and _is_secret(child))}
    shown = {name: _inner(child) for name, child in kept.items()}
    return {name: child for name, child in shown.items() if child != {} or kept[name] == {}}


def _inner(value: Any) -> Any:
    return _options(value) if isinstance(value, Mapping) else _redacted(value)


def _names_secret(name: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return any(part in plain for part in _PARTS) or plain.endswith(_ENDS) or plain in _NAMES


def _is_secret(value: Any) -> bool:
    return not (value is None or isinstance(value, bool) or value in METHODS)
