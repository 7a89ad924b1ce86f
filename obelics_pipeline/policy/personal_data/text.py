"""One text, or several of a page as one: what is found in it, and the text without."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from obelics_pipeline.policy.personal_data.finding import Finding

BETWEEN = "\n\n"  # texts of a page: no value goes over a line


def joined(texts: Sequence[str]) -> tuple[str, list[int]]:
    """The texts as one, and where each begins in it, and where one more would."""
    lengths = map(len(BETWEEN).__add__, map(len, texts))
    return BETWEEN.join(texts), list(accumulate(lengths, initial=0))


def by_text(findings: Sequence[Finding], starts: Sequence[int]) -> dict[int, list[Finding]]:
    """The findings of joined texts by the number of the text, their places in it."""
    found: dict[int, list[Finding]] = {}
    for finding in findings:
        number = bisect_right(starts, finding.begin) - 1
        start = starts[number]
        found.setdefault(number, []).append(
            Finding(finding.begin - start, finding.end - start, finding.kind, finding.value)
        )
    return found


def replaced(text: str, findings: Sequence[Finding], by: Sequence[str]) -> str:
    """The text with each finding replaced by the string beside it; findings rise and do not overlap."""
    pieces: list[str] = []
    done = 0
    for finding, string in zip(findings, by, strict=True):
        pieces += text[done : finding.begin], string
        done = finding.end
    return "".join([*pieces, text[done:]])
