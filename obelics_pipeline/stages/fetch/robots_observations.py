"""Observations of robots.txt and similar files: what an origin said about use, and the day (UTC). Nothing else of a
fetch depends on a clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import pyarrow as pa

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.stages.fetch.robots import Robots

OBSERVATIONS = pa.schema([(name, pa.string()) for name in ("origin", "robots_txt", "ai_txt", "tdm", "day")])
Observation = dict[str, str | None]


def observed_now(origin: str, said: Robots, config: FetchingConfig) -> Observation:
    """A row of `OBSERVATIONS`: a file is rules or none, robots.txt also why nothing may be asked; null: not asked."""
    further = said.refusal is None
    return {
        "origin": origin,
        "robots_txt": (said.refusal or _word(said.rules)) if config.robots_txt else None,
        "ai_txt": _word(said.ai) if further and config.ai_txt else None,
        "tdm": _word(said.tdm) if further and config.tdm == "file" else None,
        "day": datetime.now(UTC).date().isoformat(),
    }


def _word(rules: object) -> str:
    return "rules" if rules else "none"


def observation_table(rows: Iterable[Observation]) -> pa.Table:
    """The last row of each origin, in the order of origins."""
    last = {str(row["origin"]): row for row in rows}
    return pa.Table.from_pylist([last[origin] for origin in sorted(last)], OBSERVATIONS)
