"""Pages and pictures that are forgotten after the run, copies of them, and what lies beside them and must stay."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.planted.safety.prose import paragraph
from benchmarks.planted.safety.site import Case, Site
from obelics_pipeline.core.shards.source import StoredDocument

JUDGE = "forgotten"


def add_forgotten(site: Site, number: int) -> None:
    """As many of each way to name what is forgotten, and as many neighbours."""
    for n in range(number):
        host, domain = site.host("DE"), site.host("IT").removeprefix("www.")
        for planted in (True, False):
            beside = "" if planted else "-and-more"
            for kind in ("address", "doc_id", "text"):
                site.page(f"forget: {kind}", planted, JUDGE, kind, url=f"https://{host}/{kind}-{n}{beside}")
            above = ("", "www.", "blog.")[n % 3] if planted else "not"
            site.page("forget: domain", planted, JUDGE, "domain", url=f"http://{above}{domain}/{n}")
            for kind in ("image by address", "image by hash"):
                source = site.picture(url=f"http://{host}/{kind.replace(' ', '-')}-{n}{beside}.jpg")
                site.page(f"forget: {kind}", planted, JUDGE, kind, images=(source, site.picture()))
        first, *others = (paragraph("en", 4, site.random) for _ in range(9))
        for _ in range(2):
            kind = "forget: one of two copies"
            site.page(kind, True, JUDGE, "copy", language="en", paragraphs=(first, *others[:4]))
        site.page(kind, False, JUDGE, "copy", language="en", paragraphs=(first, *others[4:]))


def lists(cases: Sequence[Case], found: Mapping[str, StoredDocument], site: Site) -> dict[str, list[str]]:
    """Lines for `obelics forget`: of what the run kept, by the addresses of its pages."""
    named: dict[str, list[str]] = {"urls": [], "domains": [], "hashes": []}
    for case in _told(cases):
        if case.what in ("address", "copy") and case.url in found:
            named["urls"].append(case.url)
        elif case.what == "image by address":
            named["urls"].append(case.image)
        elif case.what == "domain":
            named["domains"].append(case.url.split("/")[2].removeprefix("www.").removeprefix("blog."))
        elif case.what == "image by hash":
            named["hashes"].append(hashlib.sha256(site.pictures[case.image]()).hexdigest())
        elif case.what == "doc_id" and case.url in found:
            named["hashes"].append(str(found[case.url].row["doc_id"]))
        elif case.what == "text" and case.url in found:
            texts = [text for text in found[case.url].value["texts"] if text is not None]
            named["hashes"].append(hashlib.sha256("\n\n".join(texts).encode()).hexdigest())
    return named


def _told(cases: Sequence[Case]) -> Iterator[Case]:
    return (case for case in cases if case.judge == JUDGE and case.planted)
