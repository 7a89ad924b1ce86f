"""Opt-out signals of a page and its host at the time of the crawl, as recorded with each document."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from obelics_pipeline.policy.opt_outs.robots_header import directives_for
from obelics_pipeline.policy.opt_outs.tdm import Tdm

MAX_DIRECTIVES = 20
MAX_DIRECTIVE = 60  # characters
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def crawl_signals(
    captured: str | None,
    header: str | None,
    metas: Iterable[str],
    tdm: Tdm,
    token: str,
    robots_txt: str | None = None,
    robots_day: str | None = None,
) -> dict[str, Any]:
    """The record: `checked` is the day of `captured`, the page's WARC-Date.

    `robots` holds the directives that speak to us (`token`), of the X-Robots-Tag header and of the robots metas;
    `robots_txt` is what a capture of the site's file said, where captures were given, and `robots_day` its day.
    """
    day = _DAY.match(captured or "")
    directives = directives_for([header], token) if header else set[str]()
    found = sorted(d[:MAX_DIRECTIVE] for d in directives | set(metas))[:MAX_DIRECTIVES]
    record: dict[str, Any] = {
        "checked": day[0] if day else None,
        "robots_txt": robots_txt,
        "robots_txt_captured": robots_day,
        "robots": found,
        "tdm": tdm.word,
        "tdm_source": tdm.source,
        "tdm_policy": tdm.policy,
    }
    return {key: value for key, value in record.items() if value is not None}
