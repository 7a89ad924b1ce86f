"""Opt-out lists and blocklists, in the forms that people write them, and addresses that are nearly on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.planted.safety.pictures import photo
from benchmarks.planted.safety.site import Site

_FLAGGED = "porn|xxx|hardcore sex|blowjob|milf|cumshot|anal sex|nude teens|hentai|bdsm|gangbang|erotic massage"


def add_lists(site: Site, number: int) -> None:
    """As many of each way to be on a list, and as many that are not."""
    for n in range(number):
        for kind, image in (("opt-out", False), ("opt-out", True), ("blocklist", False), ("blocklist", True)):
            _domains(site, kind, image, n)
            _addresses(site, kind, image, n)
        _hashes(site, n)
        _service(site, n)
        _flagged(site)


def _put(site: Site, kind: str, planted: bool, reason: str, url: str, image: bool) -> None:
    """A page at an address, or one with a picture that is there."""
    if not image:
        site.page(kind, planted, "page", reason, url=url)
        return
    source = site.picture(partial(photo, site.random.randrange(2**32)), url.replace("https:", "http:"))
    plain = site.picture(partial(photo, site.random.randrange(2**32)))
    site.page(f"{kind} of an image", planted, "image", reason, images=(source, plain), about=source)


def _tail(image: bool, n: int) -> str:
    return f"/walks/view-{n}.jpg" if image else f"/walks/day-{n}"


def _domains(site: Site, list_: str, image: bool, n: int) -> None:
    """The domain, below it, an international one; look-alikes, a longer suffix, the name within a path."""
    domain = site.host(ending="com").removeprefix("www.")
    name = domain.removesuffix(".com")
    if n % 4 == 3:
        domain, written = (
            f"bücher-{name}.de",
            f"bücher-{name}.de" if n % 8 == 3 else f"xn--{f'bücher-{name}'.encode('punycode').decode()}.de",
        )
    else:
        written = (
            domain,
            f"*.{domain}" if list_ == "blocklist" else domain.upper(),
            f"0.0.0.0 {domain}" if list_ == "blocklist" else domain,
        )[n % 4]
    site.lists.setdefault(f"{list_}_domains", []).append(written)
    ascii_form = domain.encode("idna").decode()
    above = ("", "www.", "photos.old.")[n % 3]
    reason = "opt_out_domains" if list_ == "opt-out" else "blocked_domain_adult"
    _put(site, f"{list_}: domain", True, reason, f"http://{above}{ascii_form}{_tail(image, n)}", image)
    near = (
        f"not{name}.com",
        f"{name}.com.shop-{n}.org",
        f"{name}.net",
        f"{name}s.com",
        f"mirror-{n}.org/{domain.encode('idna').decode()}",
    )
    _put(site, f"{list_}: domain", False, reason, f"http://{near[n % len(near)]}{_tail(image, n)}", image)


def _addresses(site: Site, list_: str, image: bool, n: int) -> None:
    """An address with what says nothing; sibling paths, a longer path, another query."""
    host = site.host(ending="org")
    bare = host.removeprefix("www.")
    tail = _tail(image, n)
    if list_ == "opt-out":
        site.lists.setdefault("opt-out_urls", []).append(f"https://{host}{tail}")
        same = (
            f"http://{bare}{tail}",
            f"https://www.{bare}{tail}?utm_source=mail",
            f"http://{bare}:80{tail}",
            f"https://{host}{tail}#top",
        )
        near = (
            f"http://{host}/walks/other-{n}.jpg",
            f"http://{host}{tail}?page=2",
            f"http://{host}/Elsewhere{tail}",
            f"http://old.{bare}{tail}",
        )
        reason = "opt_out_urls"
    else:
        site.lists.setdefault("blocklist_urls", []).append(f"{host}/~walker")
        same = (
            f"http://{bare}/~walker{tail}",
            f"http://www.{bare}/~walker{tail}",
            f"https://{host}/~walker{tail}?a=1",
            f"http://{host}/~walker/x{tail}",
        )
        near = (
            f"http://{host}/~walkers{tail}",
            f"http://{host}/walker{tail}",
            f"http://{host}{tail}",
            f"http://{host}/home/~walker{tail}",
        )
        reason = "blocked_domain_adult"
    _put(site, f"{list_}: address", True, reason, same[n % len(same)], image)
    _put(site, f"{list_}: address", False, reason, near[n % len(near)], image)


def _hashes(site: Site, n: int) -> None:
    """sha256 of an address or of a picture's bytes; near it another address, a picture with one pixel changed."""
    lines: list[str] = site.lists.setdefault("opt-out_hashes", [])
    seeds: Sequence[int] = [site.random.randrange(2**32) for _ in range(2)]
    url = f"https://{site.host('FR')}/{n}/souvenirs"
    lines.append(hashlib.sha256(url.encode()).hexdigest())
    _put(site, "opt-out: hash of an address", True, "opt_out_hashes", url, False)
    _put(site, "opt-out: hash of an address", False, "opt_out_hashes", f"{url}-{n}", False)
    lines.append(
        hashlib.sha256(photo(seeds[0])).hexdigest().upper() if n % 2 else hashlib.sha256(photo(seeds[0])).hexdigest()
    )
    for planted, seed in zip((True, False), seeds, strict=True):
        source, plain = (site.picture(partial(photo, s)) for s in (seed, seed + 1))
        site.page("opt-out: hash of an image", planted, "image", "opt_out_hashes", images=(source, plain), about=source)


def _service(site: Site, n: int) -> None:
    """What the service of opt-outs has; the page and the picture beside it."""
    lines = site.lists.setdefault("service", [])
    for planted in (True, False):
        url = f"https://{site.host('ES')}/{n}"
        source, plain = (site.picture(partial(photo, site.random.randrange(2**32))) for _ in range(2))
        if planted:
            lines += [url, source]
        site.page("opt-out service: page", planted, "page", "opt_out_service", url=url)
        site.page("opt-out service: image", planted, "image", "opt_out_service", images=(source, plain), about=source)


def _flagged(site: Site) -> None:
    """A page full of words of the trade, and one that speaks of the subject as a newspaper does."""
    draw = site.random
    flagged = _FLAGGED.split("|")
    trade = " ".join(
        f"Watch {draw.choice(flagged)} and {draw.choice(flagged)} videos of {draw.choice(flagged)} today."
        for _ in range(9)
    )
    honest: Callable[[], str] = lambda: draw.choice((  # noqa: E731
        "The school in Essex now teaches about breast cancer, sexual health and safety in lessons of biology.",
        "The cock crowed at dawn, the tit sat on the fence, and the ass carried wood past the village pump.",
        "The new law lets courts act against those who share such pictures, the minister of Sussex said on Monday.",
    ))  # fmt: skip
    site.page("flagged words", True, "page", "flagged_word_ratio", country="US", inside=f"<p>{trade}</p>")
    site.page("flagged words", False, "page", "flagged_word_ratio", country="GB", inside=f"<p>{honest()}</p>")
