"""The answers of the last round of asking that was finished, for those who publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, read_table, size_of

ANSWERED = "answers.parquet"


def last_round(run: Location) -> Location | None:
    """The file of the answers; None where nobody asked again."""
    place = RunFolder(run).consent_again / ANSWERED
    return None if size_of(place) is None else place


def page_answers(answers: Location, urls: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What pages answered, by address: `day`, `said`, and what their host has as `ai_txt`. Others are left out."""
    named = pc.field("url").isin(pa.array(urls, pa.string()))
    table = read_table(answers, ["url", "day", "said", "ai_txt"], pc.field("page") & named)
    return {row["url"]: row for row in table.to_pylist()}


def counted(answers: Location) -> dict[str, int]:
    """How many addresses gave each answer, by its word."""
    return dict(sorted(Counter(read_table(answers, ["said"])["said"].to_pylist()).items()))
