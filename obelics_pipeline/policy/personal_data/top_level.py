"""Whether a host name can exist: does it end in a top-level domain that somebody has delegated, or reserved."""

from __future__ import annotations

from functools import cache, lru_cache

import idna
from publicsuffixlist import PublicSuffixList

RESERVED = frozenset({"test", "example", "invalid", "localhost", "onion", "local", "internal"})  # RFC 2606, 6761, 6762
MAX_HOST = 253  # characters (RFC 1035)
LONGEST = 63  # characters of a label


@cache
def _known() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False, only_icann=True)


@lru_cache(maxsize=8_192)
def top_level(label: str) -> bool:
    """Whether a label, in any script, is a top-level domain."""
    name = ascii_host(label)
    return name is not None and (name in RESERVED or bool(_known().publicsuffix(name)))


@lru_cache(maxsize=8_192)
def ascii_host(host: str) -> str | None:
    """A host in lower case, by IDNA 2008 where it is in another script; None for what can be no host."""
    if host.isascii():
        name = host.lower()
        whole = all(0 < len(part) <= LONGEST and part[0] != "-" and part[-1] != "-" for part in name.split("."))
        return name if whole and len(name) <= MAX_HOST else None
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError, ValueError, IndexError):
        return None
