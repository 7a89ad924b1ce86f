"""The pages of the demo's web site, as a crawler would have seen them: written ones, and those of a content farm."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from obelics_pipeline.demo.farm import HOST as FARM
from obelics_pipeline.demo.farm import farm_pages
from obelics_pipeline.demo.page import Page

SITE = Path(__file__).parent / "site"
"""One folder per host, below it the paths of its pages; `site.yaml` beside them says what is not ordinary."""


@cache
def peculiarities() -> dict[str, dict[str, dict[str, Any]]]:
    """`site.yaml`: by page URL and by image URL, whatever an ordinary answer does not have."""
    values: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((SITE / "site.yaml").read_text(encoding="utf-8"))
    return values


@cache
def unusual() -> dict[str, dict[str, str]]:
    """`unusual.yaml`: by URL, title, genre and source of honest pages that look unusual."""
    values: dict[str, dict[str, str]] = yaml.safe_load((SITE / "unusual.yaml").read_text(encoding="utf-8"))
    return values


def farms() -> list[str]:
    """The hosts whose pages nobody wrote, sorted."""
    return sorted([FARM, *peculiarities()["farms"]])


def pages() -> list[Page]:
    """Every page of the site, sorted by host and path."""
    written = list(written_pages())
    return sorted([*written, *farm_pages(written)], key=lambda page: page.url)


def written_pages() -> Iterator[Page]:
    """Every page that lies in `SITE`, sorted by host and path."""
    special = peculiarities()["pages"]
    for path in sorted(SITE.glob("*/**/*.html"), key=lambda p: p.relative_to(SITE).as_posix()):
        url = page_url(path)
        yield Page(url, path.read_bytes(), **special.get(url, {}))


def page_url(path: Path) -> str:
    """The URL of a page's file; `index.html` stands for its folder."""
    relative = path.relative_to(SITE).as_posix()
    return "http://" + (relative.removesuffix("index.html") if path.name == "index.html" else relative)


def hosts() -> list[str]:
    """The hosts of the site, sorted: those with pages, the farm, and those that only serve images."""
    named = {path.name for path in SITE.iterdir() if path.is_dir()}
    return sorted(named | {FARM} | set(peculiarities()["image_hosts"]))
