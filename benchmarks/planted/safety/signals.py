"""What pages, images and sites say they do not allow: noai, TDM, robots.txt, ai.txt; and what only comes near it."""

from __future__ import annotations

from benchmarks.planted.safety.forms import data
from benchmarks.planted.safety.site import Site
from obelics_pipeline.demo.page import Page


def add_signals(site: Site, number: int) -> None:
    """As many of each kind of signals.yaml, and as many near misses."""
    signals = data("signals")
    for n in range(number):
        for planted in (True, False):
            for way in ("head", "headers", "answers"):
                for kind, about in signals[way].items():
                    choices = about["forbids" if planted else "allows"]
                    said = choices[n % len(choices)]
                    if way == "answers":
                        site.show(kind, planted, about["reason"], site.picture(headers=said))
                    else:
                        site.page(kind, planted, "page", about["reason"], **{way: said})
            beside = "private-but-not" if n % 2 else "open"
            for kind, (path, text) in signals["hosts"].items():
                host = f"http://{site.host('DE')}"
                site.files[host + path] = text
                url = f"{host}/{'private' if planted else beside}/view-{n}.jpg"
                site.show(kind, planted, "site", site.picture(url=url))
            _captured(site, planted, n, beside)


def _captured(site: Site, planted: bool, n: int, beside: str) -> None:
    """A page whose robots.txt the crawl captured; near it the folder beside, or what is said to another crawler."""
    host = f"http{'s' * (n % 2)}://{site.host('GB')}"
    agent = "CCBot" if planted or n % 2 else "SomeOtherBot"
    said = f"User-agent: {agent}\nDisallow: /private/\n\nUser-agent: *\nAllow: /\n".encode()
    site.captures.append(Page(f"{host}/robots.txt", said, content_type="text/plain"))
    url = f"{host}/{'private' if planted or agent == 'SomeOtherBot' else beside}/story-{n}.html"
    site.page("site's word of a page: robots.txt", planted, "page", "robots_txt", url=url)
