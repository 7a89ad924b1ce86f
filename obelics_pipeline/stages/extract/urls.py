"""From a reference in a page to an absolute http(s) URL in ASCII, as a browser would make it; never an exception."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from obelics_pipeline.net.web_host import in_url, web_host
from obelics_pipeline.stages.extract import addresses

MAX_URL = 4_000  # characters; longer ones are data in disguise, and servers refuse them (8 KB of headers is usual)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = "/%:@!$&'()*+,;=~-._?[]|"  # left as they are in path and query; "%" is, so that nothing is encoded twice

_FINAL = re.compile(
    r"https?://(?!(?:[^/]*\.)?xn--)(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*(?:/(?!\.)[A-Za-z0-9_%!$&'()*+,;=:@~?-]*(?:\.[A-Za-z0-9_%!$&'()*+,;=:@~?-]+)*)+"
)
_CONTROLS = dict.fromkeys([*range(0x20), 0x7F])


def join_url(base: str, reference: str) -> str | None:
    """Resolve a reference against a base URL.

    Only http and https come out, with a punycode host, spaces and non-ASCII percent-encoded, default port, user and
    fragment dropped. None for anything else, however hostile.
    """
    reference = reference.strip()
    if not reference or len(reference) > MAX_URL:
        return None
    if is_final(reference):
        return reference
    try:
        if base.isascii() and ":" not in reference and reference[0] != "?":
            scheme, origin, folder = _places(base)
            if reference[0] != "/":
                guess = folder + reference
            else:
                guess = scheme + reference if reference[1:2] == "/" else origin + reference
            if is_final(guess):
                return guess
        return _join(base, reference.translate(_CONTROLS))
    except ValueError:  # urllib's word for brackets, ports and Unicode hosts it cannot make sense of
        return None


def is_final(url: str) -> bool:
    """Whether there is nothing to resolve, decode or encode in an address, and its host is a plain name."""
    return addresses.compiled.is_final(url) if addresses.COMPILED and url.isascii() else is_final_in_python(url)


def is_final_in_python(url: str) -> bool:
    """What `is_final` says, in Python."""
    return _FINAL.fullmatch(url) is not None


@lru_cache(maxsize=16)
def _places(base: str) -> tuple[str, str, str]:
    """What the three ordinary kinds of reference are put behind: the scheme, the host, the folder of a base URL."""
    parts = urlsplit(base)
    origin = f"{parts.scheme}://{parts.netloc}"
    return f"{parts.scheme}:", origin, f"{origin}{parts.path.rpartition('/')[0]}/"


def _join(base: str, reference: str) -> str | None:
    path, question, query = reference.partition("?")
    given = urlsplit(path.replace("\\", "/"))
    if given.scheme and not given.netloc:
        return None  # "https:" without a host: urllib would borrow the page's
    parts = urlsplit(urljoin(base, path.replace("\\", "/") + question + query))
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return None
    host = web_host(parts.hostname)
    if host is None:
        return None
    port = parts.port
    netloc = in_url(host) if port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{in_url(host)}:{port}"
    url = urlunsplit((parts.scheme, netloc, quote(parts.path, _SAFE) or "/", quote(parts.query, _SAFE), ""))
    return url if len(url) <= MAX_URL * 3 else None
