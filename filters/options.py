"""How a filter's options are declared: as the fields of a strict, frozen dataclass, checked when the config is read."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from filters.pure import MAX_N

STRICT = ConfigDict(extra="forbid", strict=True)

GramLength = Annotated[int, Field(ge=1, le=MAX_N)]
