"""Why a page, or a row of a published corpus, gave no document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refused:
    """A rule, or a failure of ours."""

    reason: str
    failed: bool = False
