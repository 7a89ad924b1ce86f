"""Whose page it is: the part of a host that somebody registered, by the public suffix list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from obelics_pipeline.net.web_host import MAX_HOST, is_address, web_host

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_REGISTRY_DOTS = 3  # in the longest name of a registry: city.kawasaki.jp has two, and one more may come
NO_SITE = ""  # of what has no host, or none that can exist


def site_of_url(url: str) -> str:
    """The site of an absolute URL; NO_SITE where it has none."""
    try:
        return site_of_host(urlsplit(url).hostname or "")
    except ValueError:  # a bracket that opens no address
        return NO_SITE


def site_of_host(host: str) -> str:
    """The registered domain of a host, in ASCII and lower case: bbc.co.uk of www.bbc.co.uk, a.github.io of a.github.io.

    The list's private part counts: blogs that strangers keep below one name are sites of their own. An address, and a
    name that is itself a public suffix, is its own site. NO_SITE for what can be no host.
    """
    return _site_of(host) if 0 < len(host) <= MAX_HOST else NO_SITE


def is_public_suffix(host: str) -> bool:
    """Whether a name in ASCII is a registry's own, such as com and co.uk: nobody owns it as a whole.

    The list's private part does not count: it has owners.
    """
    if host.count(".") > _REGISTRY_DOTS or host[-1:].isdigit():  # the latter is an address
        return False
    return _registries().publicsuffix(host) == host


def with_parents(host: str) -> Iterator[str]:
    """A host in its plain form, then all that it is below, up to its top level; nothing is above an address."""
    yield host
    if not host.endswith((*"0123456789", "]")):
        for _ in range(host.count(".")):
            host = host.partition(".")[2]
            yield host


def plain_host(host: str) -> str:
    """A host as it is compared: an address in its shortest spelling, a name in ASCII and lower case without final dots.

    NO_SITE for what can be no host.
    """
    return web_host(host.rstrip(".")) or NO_SITE


@lru_cache(maxsize=32_768)
def _site_of(host: str) -> str:
    name = plain_host(host)
    return name if is_address(name) else _suffixes().privatesuffix(name) or name


@cache
def _registries() -> PublicSuffixList:
    """The part of the public suffix list that registries run."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(only_icann=True)


@cache
def _suffixes() -> PublicSuffixList:
    """The list that the package carries; no request is sent."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
