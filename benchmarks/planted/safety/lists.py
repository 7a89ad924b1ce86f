"""Opt-out lists, a service and blocklists, in the forms that people write them, and what is nearly on them."""

from __future__ import annotations

import hashlib
from functools import partial

from benchmarks.planted.safety.drawing import photo
from benchmarks.planted.safety.site import Site

REASONS = {
    "opt-out": {"domains": "opt_out_domains", "urls": "opt_out_urls", "hashes": "opt_out_hashes"},
    "blocklist": {"domains": "blocked_domain_adult", "urls": "blocked_domain_adult"},
}
_FLAGGED = "porn|xxx|hardcore sex|blowjob|milf|cumshot|anal sex|nude teens|hentai|bdsm|gangbang|erotic massage".split(
    "|"
)
_HONEST = (
    "The school in Essex now teaches about breast cancer, sexual health and safety in lessons of biology.",
    "The cock crowed at dawn, the tit sat on the fence, and the ass carried wood past the village pump.",
    "The new law lets courts act against those who share such pictures, the minister of Sussex said on Monday.",
)


def add_lists(site: Site, number: int) -> None:
    """As many of each way to be on a list, and as many that are not."""
    for n in range(number):
        for name in REASONS:
            for image in (False, True):
                tail = f"/walks/view-{n}.jpg" if image else f"/walks/day-{n}"
                _domains(site, name, image, n, tail)
                _addresses(site, name, image, n, tail)
        _hashes(site, n)
        _service(site, n)
        _flagged(site, n)


def _put(site: Site, name: str, kind: str, urls: tuple[str, str], image: bool) -> None:
    """A page at either address, or one with a picture that is there: the first is on the list."""
    reason = REASONS[name][{"domain": "domains", "address": "urls"}[kind]]
    for planted, url in zip((True, False), urls, strict=True):
        if image:
            site.show(f"{name}: {kind} of an image", planted, reason, site.picture(url=url.replace("https:", "http:")))
        else:
            site.page(f"{name}: {kind} of a page", planted, "page", reason, url=url)


def _domains(site: Site, name: str, image: bool, n: int, tail: str) -> None:
    """The domain, below it, an international one; look-alikes, a longer suffix, the name within a path."""
    plain = site.host(ending="com").removeprefix("www.")
    stem = plain.removesuffix(".com")
    domain = f"bücher-{stem}.de" if n % 4 == 3 else plain
    ascii_form = domain.encode("idna").decode()
    written = {
        "opt-out": (plain, plain.upper(), plain, domain if n % 8 == 3 else ascii_form),
        "blocklist": (plain, f"*.{plain}", f"0.0.0.0 {plain}", domain if n % 8 == 3 else ascii_form),
    }[name][n % 4]
    site.lists.setdefault(f"{name}_domains", []).append(written)
    near = (f"not{stem}.com", f"{stem}.com.shop-{n}.org", f"{stem}.net", f"{stem}s.com", f"mirror-{n}.org/{ascii_form}")
    above = ("", "www.", "photos.old.")[n % 3]
    _put(site, name, "domain", (f"http://{above}{ascii_form}{tail}", f"http://{near[n % len(near)]}{tail}"), image)


def _addresses(site: Site, name: str, image: bool, n: int, tail: str) -> None:
    """An address with what says nothing; sibling paths, a longer path, another query."""
    host = site.host(ending="org").removeprefix("www.")
    user = f"{host}/~walker"
    written, same, near = {
        "opt-out": (
            f"https://{host}{tail}",
            (f"{host}{tail}", f"www.{host}{tail}?utm_source=mail", f"{host}:80{tail}", f"{host}{tail}#top"),
            (f"{host}/walks/other-{n}.jpg", f"{host}{tail}?page=2", f"{host}/Elsewhere{tail}", f"old.{host}{tail}"),
        ),
        "blocklist": (
            user,
            (f"{user}{tail}", f"www.{user}{tail}", f"{user}{tail}?a=1", f"{user}/x{tail}"),
            (f"{user}s{tail}", f"{host}/walker{tail}", f"{host}{tail}", f"{host}/home/~walker{tail}"),
        ),
    }[name]
    site.lists.setdefault(f"{name}_urls", []).append(written)
    _put(site, name, "address", (f"http://{same[n % len(same)]}", f"http://{near[n % len(near)]}"), image)


def _hashes(site: Site, n: int) -> None:
    """sha256 of an address or of a picture's bytes; near them another address, another picture."""
    lines, reason = site.lists.setdefault("opt-out_hashes", []), REASONS["opt-out"]["hashes"]
    url = f"https://{site.host('FR')}/{n}/souvenirs"
    seed = site.random.randrange(2**32)
    digest = hashlib.sha256(photo(seed)).hexdigest()
    lines += [hashlib.sha256(url.encode()).hexdigest(), digest.upper() if n % 2 else digest]
    for planted in (True, False):
        site.page("opt-out: hash of an address", planted, "page", reason, url=url if planted else f"{url}-{n}")
        site.show("opt-out: hash of an image", planted, reason, site.picture(partial(photo, seed + 1 - planted)))


def _service(site: Site, n: int) -> None:
    """What the service of opt-outs has; another page and another picture."""
    lines = site.lists.setdefault("service", [])
    for planted in (True, False):
        url, source = f"https://{site.host('ES')}/{n}", site.picture()
        lines += [url, source] if planted else []
        site.page("opt-out service: page", planted, "page", "opt_out_service", url=url)
        site.show("opt-out service: image", planted, "opt_out_service", source)


def _flagged(site: Site, n: int) -> None:
    """A paragraph full of words of the trade, and one that speaks of such things as a newspaper does."""
    trade = " ".join("Watch {} and {} videos of {} today.".format(*site.random.sample(_FLAGGED, 3)) for _ in range(9))
    site.page("flagged words", True, "page", "flagged_word_ratio", country="US", inside=f"<p>{trade}</p>")
    honest = _HONEST[n % len(_HONEST)]
    site.page("flagged words", False, "page", "flagged_word_ratio", country="GB", inside=f"<p>{honest}</p>")
