"""Marks: a person's judgement of documents as good or bad, and how the rules agree with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.rates import Share
from obelics_pipeline.core.storage import Location, read_bytes, write_bytes
from obelics_pipeline.inspect.tune.documents import Mask, Numbers

Mark = Literal["good", "bad"]
MARKS = ("good", "bad")


class Marks:
    """Marks by document, kept in a file: a line of JSON each, in the order of the ids."""

    def __init__(self, file: Location) -> None:
        """Raises UserError for a file with other lines."""
        self._file = file
        self._marks: dict[str, Mark] = {}
        try:
            lines = read_bytes(file).decode().splitlines()
        except FileNotFoundError:
            lines = []
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{file}: the marks cannot be read: {error}") from None
        for number, line in enumerate(lines, 1):
            self._marks |= _parsed(line, f"{file}:{number}")

    def __len__(self) -> int:
        return len(self._marks)

    def __iter__(self) -> Iterator[str]:
        """The ids of marked documents, in order."""
        return iter(sorted(self._marks))

    def of(self, doc_id: str) -> Mark | None:
        """The mark of a document; None without one."""
        return self._marks.get(doc_id)

    def set(self, doc_id: str, mark: Mark | None) -> None:
        """Mark a document, or with None take its mark back; written at once. Raises OSError where it cannot be."""
        if mark is None:
            self._marks.pop(doc_id, None)
        else:
            self._marks[doc_id] = mark
        lines = [json.dumps({"doc_id": i, "mark": self._marks[i]}) + "\n" for i in sorted(self._marks)]
        write_bytes(self._file, "".join(lines).encode())

    def rows(self, row_of: Mapping[str, int], mark: Mark) -> list[int]:
        """The rows of the documents with a mark; those that a run does not have are left out."""
        return sorted(row_of[doc_id] for doc_id, of_it in self._marks.items() if of_it == mark and doc_id in row_of)


def _parsed(line: str, where: str) -> dict[str, Mark]:
    try:
        value = json.loads(line)
        if value["mark"] in MARKS and isinstance(value["doc_id"], str):
            return {value["doc_id"]: value["mark"]}
    except (ValueError, KeyError, TypeError):
        pass
    raise UserError(f'{where}: not a mark; a line is {{"doc_id": "…", "mark": "good"}} or "bad"; correct or remove it')


@dataclass(frozen=True)
class Judged:
    """How a rule agrees with the marks: the share of bad documents among those it drops (precision), and the share of
    the bad ones that it drops (recall).
    """

    precision: Share
    recall: Share

    def to_json(self) -> dict[str, Any]:
        """Counts, shares and their intervals; a share of nothing is null."""
        return {name: _share(share) for name, share in vars(self).items()}


def judge(dropped: Mask, good: Sequence[int], bad: Sequence[int]) -> Judged:
    """How a rule agrees with the marks. `good` and `bad` are rows of documents."""
    right, wrong = int(dropped[list(bad)].sum()), int(dropped[list(good)].sum())
    return Judged(Share(right, right + wrong), Share(right, len(bad)))


def _share(share: Share) -> dict[str, Any]:
    value = share.value if share.of else None
    return {"found": share.found, "of": share.of, "value": value, "interval": share.interval()}


def for_precision(
    scores: Numbers, good: Sequence[int], bad: Sequence[int], side: Literal["min", "max"], wanted: float
) -> float | None:
    """The threshold that drops most of the bad documents, of those that reach a precision on the marks.

    `side` says which bound it is: max drops what is above. Thresholds lie halfway between marked scores. None where no
    threshold drops anything with that precision.
    """
    sign = 1.0 if side == "max" else -1.0
    rows = [*bad, *good]
    of_them = sign * scores[rows]
    is_bad = np.arange(len(rows)) < len(bad)
    there = ~np.isnan(of_them)
    of_them, is_bad = of_them[there], is_bad[there]
    order = np.argsort(-of_them, kind="stable")
    values, hits = of_them[order], np.cumsum(is_bad[order])
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)) if len(values) else np.array([], np.int64)
    best: tuple[int, float] | None = None
    for end in ends.tolist():
        if hits[end] / (end + 1) >= wanted and hits[end] > (best[0] if best else 0):
            below = values[end + 1] if end + 1 < len(values) else values[end] - abs(values[end]) - 1
            best = int(hits[end]), float((values[end] + below) / 2)
    return None if best is None else sign * best[1]


def for_budget(scores: Numbers, tokens: Numbers, side: Literal["min", "max"], wanted: float) -> float | None:
    """The loosest threshold that leaves at most so many tokens; `tokens` are those that each document is worth now.

    Documents without a score are not dropped. None where these alone are too many.
    """
    sign = 1.0 if side == "max" else -1.0
    there = ~np.isnan(scores)
    left = wanted - float(tokens[~there].sum())
    if left < 0:
        return None
    of_them, worth = sign * scores[there], tokens[there]
    values, places = np.unique(of_them, return_inverse=True)
    total = np.cumsum(np.bincount(places, weights=worth, minlength=len(values)))
    fits = int(np.searchsorted(total, left, side="right"))
    if fits == 0:
        return None
    return float(sign * values[fits - 1])
