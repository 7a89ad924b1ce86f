"""What an address answered when it was asked again, and whether that forbids its use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from obelics_pipeline.stages.fetch.reason import OPT_OUT_SUFFIX

ALLOWED = "allowed"
REFUSALS = frozenset({"robots_txt", "ai_txt", "tdm_reserved", "noai_meta", "noimageai_meta"})

# A row per address. `before` is what the run knew, of `before_day`; `said` is of `day`. Days are in UTC.
ANSWERS = pa.schema(
    [
        ("url", pa.string()),
        ("page", pa.bool_()),
        ("image", pa.bool_()),
        ("before", pa.string()),
        ("before_day", pa.string()),
        ("said", pa.string()),
        ("refused", pa.bool_()),
        ("robots_txt", pa.string()),
        ("ai_txt", pa.string()),
        ("tdm", pa.string()),
        ("day", pa.string()),
    ]
)


@dataclass(frozen=True)
class Subject:
    """An address to ask: of a page, of an image, or of both. `before` is what the run knew of it, and the day."""

    url: str
    page: bool
    image: bool
    before: str | None = None
    before_day: str | None = None

    def with_(self, other: Subject) -> Subject:
        """Both as one; what a page knew goes before."""
        first, second = (self, other) if self.page >= other.page else (other, self)
        before, day = (first.before, first.before_day) if first.before else (second.before, second.before_day)
        return Subject(self.url, self.page or other.page, self.image or other.image, before, day)


def refuses(said: str) -> bool:
    """Whether a word forbids the use. A failure, as of a network, does not: nobody said anything."""
    return said in REFUSALS or said.endswith(OPT_OUT_SUFFIX)


def answer_row(subject: Subject, said: str, day: str, origin: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `ANSWERS`; `origin` is what was observed of the files of its host."""
    files = {name: origin.get(name) for name in ("robots_txt", "ai_txt", "tdm")}
    return {**vars(subject), "said": said, "refused": refuses(said), **files, "day": day}


def known_of_page(general: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """What a run recorded of a page, in words, and the day."""
    heard = general.get("consent")
    if not isinstance(heard, dict):
        return None, str(general.get("warc_date") or "")[:10] or None
    words = [f"{name}: {heard[name]}" for name in ("robots_txt", "tdm") if isinstance(heard.get(name), str)]
    robots = heard.get("robots")
    if isinstance(robots, list) and robots:
        words.append(f"robots: {', '.join(map(str, robots))}")
    day = heard.get("checked")
    return "; ".join(words) or None, day if isinstance(day, str) else None
