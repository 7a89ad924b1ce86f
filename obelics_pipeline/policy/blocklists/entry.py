"""One line of a list: a domain, or a URL, in the spelling in which it is looked up."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from obelics_pipeline.net.web_host import MAX_HOST, is_address, web_host

MAX_LINE = 4_096  # bytes; a longer one is no domain, and no URL that is worth a list

_PLAIN = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_USUAL = re.compile(rf"https?://({_PLAIN.pattern})(?::[0-9]{{1,5}})?(?=[/?#]|$)([^?#\s]*)(\?[^#\s]*)?(?:#\S*)?\Z")
_SINKS = frozenset(
    {"0.0.0.0", "127.0.0.1", "127.0.1.1", "::", "::1", "255.255.255.255", "fe80::1%lo0"}
)  # of hosts files
_OWN = frozenset({
    "localhost", "localhost.localdomain", "local", "broadcasthost", "ip6-localhost", "ip6-loopback", "ip6-localnet",
    "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters", "ip6-allhosts", "0.0.0.0",
})  # fmt: skip
_COMMENTS = ("#", "!", ";", "//", "[")


def entries_of(line: str) -> list[str] | None:
    """The domains and URLs of a line, none where it is empty or a comment, None where it is neither.

    A hosts file names several on one line, behind the address that they lead to.
    """
    text = line.strip().lower()
    if _PLAIN.fullmatch(text) and len(text) <= MAX_HOST:
        return [text]
    text = line.strip()
    if not text or text.startswith(_COMMENTS):
        return []
    text = re.split(r"\s[#;]", text, maxsplit=1)[0].rstrip()
    words = text.split()
    if words[0].lower() in _SINKS and len(words) > 1:
        names = [word for word in words[1:] if word.lower() not in _OWN]
        found = [entry for entry in map(_entry, names) if entry is not None]
        return found if len(found) == len(names) else None
    entry = _entry(text) if len(words) == 1 else None
    return None if entry is None else [entry]


def _entry(text: str) -> str | None:
    if text.startswith("||"):  # as filters of advertisements write a domain
        text = text[2:].rstrip("^|")
    if text.startswith("*."):
        text = text[2:]
    text = text.lstrip(".")
    if "://" not in text:
        text = f"http://{text}"
    return canonical(text)


def canonical(url: str) -> str | None:
    """host, or host/path?query where there is more than a host; None for what has no host."""
    cut = host_and_path(url)
    if cut is None:
        return None
    host, path = cut
    return host + path if path else host


def host_and_path(url: str) -> tuple[str, str] | None:
    """A URL's host, in ASCII, lower case and without port, and what follows it; "" where that is only a slash."""
    usual = _USUAL.match(url)
    if usual is not None:
        host, path, query = usual.groups()
        if len(host) <= MAX_HOST:
            return host, (path or "").rstrip("/") + (query if query != "?" and query else "")
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    name = _host(host)
    if name is None:
        return None
    path = parts.path.rstrip("/") + (f"?{parts.query}" if parts.query else "")
    return name, path


def _host(host: str) -> str | None:
    name = (web_host(host) or "").removesuffix(".")
    return name if _PLAIN.fullmatch(name) or is_address(name) else None
