"""What a global step makes of the rows of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class ReduceOutput:
    """Tables by role, and JSON values that the driver must know."""

    tables: Mapping[str, pa.Table]
    notes: Mapping[str, Any] = field(default_factory=dict)
