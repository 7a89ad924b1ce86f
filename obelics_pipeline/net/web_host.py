"""Which host an address means: one spelling for each, the one that a browser asks (WHATWG URL Standard, host parsing).

Two readings of a host are two hosts: a name that is judged in one spelling and asked in another was not judged at all.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import unquote_to_bytes

MAX_HOST = 253  # characters of a name (RFC 1035 2.3.4: 255 octets with the length bytes)
_MAX_LABEL = 63  # characters between two dots (the same)
_MAX_WRITTEN = 12 * MAX_HOST  # characters before anything is decoded: four escapes for one character at most

# Stricter than the standard, which lets any sign pass that means nothing in a URL: names that a DNS server may have.
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PARTS = 4  # of an IPv4 address
_NON_JOINERS = "\u200c\u200d"  # are nothing where they join nothing (RFC 5892, A.1 and A.2)


def web_host(written: str) -> str | None:
    """A host as browsers spell it, from the way it stands in a URL; None for what can be none.

    Names come out in lower-case ASCII (UTS 46, non-transitional: ß stays ß), a final dot stays; addresses in their
    shortest form, whatever number or brackets they were written with, IPv6 without its brackets. Never raises.
    """
    if len(written) > _MAX_WRITTEN:
        return None
    return _known(written) if len(written) <= MAX_HOST else _host(written)


def in_url(host: str) -> str:
    """A host as written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def is_address(host: str) -> bool:
    """Whether a host that `web_host` gave is an address, and no name."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def _host(written: str) -> str | None:
    if ":" in written or written.startswith("["):
        return _ipv6(written)
    try:
        name = unquote_to_bytes(written).decode() if "%" in written else written
        name = _ascii(name)
    except (UnicodeError, ValueError, IndexError):  # idna's errors are UnicodeErrors; IndexError is one of its slips
        return None
    if len(name.removesuffix(".")) > MAX_HOST or not _NAME.fullmatch(name):
        return None
    return _ipv4(name.removesuffix(".")) if _NUMBER.fullmatch(name.removesuffix(".").rpartition(".")[2]) else name


_known = lru_cache(maxsize=16_384)(_host)


def _ipv6(written: str) -> str | None:
    text = written[1:-1] if written[:1] == "[" and written[-1:] == "]" else written
    try:
        return str(IPv6Address(text)) if "%" not in text else None  # a zone means something on one machine only
    except ValueError:
        return None


def _ipv4(name: str) -> str | None:
    """An address from one to four numbers, each decimal, octal or hexadecimal, the last filling what is left."""
    parts = name.split(".")
    if len(parts) > _PARTS:
        return None
    try:
        *first, last = map(_number, parts)
    except ValueError:
        return None
    room = 256 ** (_PARTS - len(first))
    if last >= room or any(part > 255 for part in first):
        return None
    return str(IPv4Address(last + sum(part * 256 ** (3 - place) for place, part in enumerate(first))))


def _number(text: str) -> int:
    """The number that a text writes. Raises ValueError for other text, and for more digits than an address has."""
    if not _NUMBER.fullmatch(text):
        raise ValueError
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text[0] == "0" else 10)


def _ascii(name: str) -> str:
    """A name by UTS 46. Raises UnicodeError or ValueError for text that is no name."""
    lower = name.lower()
    if lower.isascii() and "xn--" not in lower:
        return lower
    if len(name) > MAX_HOST:
        raise ValueError  # before any work: what encodes names takes quadratic time
    import idna

    mapped = idna.uts46_remap(name, std3_rules=False)
    return ".".join(map(_label, mapped.split(".")))


def _label(label: str) -> str:
    if label.isascii() and not label.startswith("xn--"):
        return label
    import idna

    shown = label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
    idna.check_bidi(shown)
    joined = all(idna.valid_contextj(shown, place) for place, c in enumerate(shown) if c in _NON_JOINERS)
    known = idna.uts46_remap(shown, std3_rules=False) == shown
    if shown.isascii() or not (joined and known) or unicodedata.category(shown[0]).startswith("M"):
        raise ValueError
    encoded = "xn--" + shown.encode("punycode").decode("ascii")
    if len(encoded) > _MAX_LABEL:
        raise ValueError
    return encoded
