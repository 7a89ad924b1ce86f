"""Where a page's links lead: how many there are, how many leave its site, how many look paid for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from obelics_pipeline.net.registered_domain import site_of_host
from obelics_pipeline.net.web_host import MAX_HOST
from obelics_pipeline.stages.extract import tree

# How networks of partners note who sent a reader: a parameter of the address, whoever the merchant is.
_AFFILIATE = re.compile(
    r"[?&;](?:tag|ref|refid|ref_id|referrer_id|aff|aff_?id|aff_?code|aff_?sub|affiliate|affiliate_?id|"
    r"partner|partner_?id|click_?id|sub_?id)=[^&#]",
    re.IGNORECASE,
)
# How a site hides them: an address of its own that leads away at once.
_FORWARDING = re.compile(r"/(?:go|out|goto|recommends?|refer|aff|affiliate|visit|click|redirect)/[^/?#]")
_ABSOLUTE = re.compile(r"(?:[hH][tT]{2}[pP][sS]?:)?[/\\]{2}([^/\\?#]*)")
_PLAIN_HOST = re.compile(r"[A-Za-z0-9.-]+")
_NO_LINK = ("#", "javascript:", "mailto:", "tel:", "data:")  # lead to no page


@dataclass(slots=True)
class LinkCounts:
    """Links of a page, those in its navigation and hidden ones not among them.

    `affiliate_link_count` are those that say so (rel=sponsored), that carry a partner's mark to another site, or that
    lead through a forwarding path of the page's own.
    """

    link_count: int = 0
    outbound_link_count: int = 0
    affiliate_link_count: int = 0

    def to_json(self) -> dict[str, int]:
        """The counts for a document's general metadata."""
        return {name: getattr(self, name) for name in self.__slots__}


def count_links(links: Sequence[tuple[str, str | None]], url: str) -> LinkCounts:
    """Count links, each an address as written and its `rel`; `url` is the page's own."""
    if not tree.COMPILED:
        return count_in_python(links, url)
    found = tree.compiled.count_links(list(links), _Elsewhere(url), _AFFILIATE.search, _FORWARDING.match, _is_sponsored)
    return LinkCounts(*found)


def count_in_python(links: Iterable[tuple[str, str | None]], url: str) -> LinkCounts:
    """What `count_links` says, in Python."""
    count = outbound = affiliate = 0
    elsewhere, absolute, forwarding = _Elsewhere(url), _ABSOLUTE.match, _FORWARDING.match
    for href, rel in links:
        if not href or href[:11].lower().startswith(_NO_LINK):
            continue
        count += 1
        found = absolute(href)
        if found is not None and elsewhere[found[1]]:
            outbound += 1
            paid = "=" in href and _AFFILIATE.search(href) is not None
        else:
            paid = forwarding(href, found.end() if found else 0) is not None
        if paid or (rel and _is_sponsored(rel)):
            affiliate += 1
    return LinkCounts(count, outbound, affiliate)


def _is_sponsored(rel: str) -> bool:
    return "sponsored" in rel.lower().split()


class _Elsewhere(dict[str, bool]):
    """Whether the host of a link is of another site than the page; each is looked up once."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._site = site_of_host(_host_of(url))

    def __missing__(self, authority: str) -> bool:
        site = _known_site_of(authority) if len(authority) <= MAX_HOST else _site_of(authority)
        answer = self[authority] = site != self._site
        return answer


def _site_of(authority: str) -> str:
    return site_of_host(authority.lower() if _PLAIN_HOST.fullmatch(authority) else _host_of(f"//{authority}"))


_known_site_of = lru_cache(maxsize=32_768)(_site_of)  # pages link to the same hosts; of hostile ones none is kept


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
