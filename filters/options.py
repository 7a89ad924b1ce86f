"""How a filter's options are declared: as the fields of a strict, frozen dataclass, checked when the config is read."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

MAX_N = 100  # longest n-gram: bounds the work of one comparison; the same in _statistics.c

STRICT = ConfigDict(extra="forbid", strict=True)

GramLength = Annotated[int, Field(ge=1, le=MAX_N)]
