"""How many cases of each kind were found, as a table; and what went wrong, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchmarks.planted.safety.judge import Verdict
from benchmarks.planted.safety.site import Case
from obelics_pipeline.core.rates import Share

TAKEN_FOR = {
    "e-mail": "person-", "phone, national": r"\+999", "IP": r"192\.0\.2\.|2001:db8:", "MAC": "00:00:5e", "IBAN": "ZZ00",
    "card": "9999 ", "national id": "ZZ-",
}  # fmt: skip
"""What a near miss of personal data was replaced by tells what it was taken for; each is near to all of these."""

_HEAD = """| kind | planted | found | recall (95 %) | near misses | taken | precision | not judged |
|---|--:|--:|--:|--:|--:|--:|--:|"""


@dataclass
class Count:
    """Cases of one kind; `unjudged`: their page, or the sentence, was lost for something else."""

    planted: int = 0
    found: int = 0
    near: int = 0
    taken: int = 0
    unjudged: int = 0
    wrong: list[str] = field(default_factory=list)

    def join(self, other: Count) -> None:
        """Add another's."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def add(self, case: Case, seen: Verdict) -> None:
        """Count one case."""
        if seen.taken is None:
            self.unjudged += 1
        elif case.planted:
            self.planted, self.found = self.planted + 1, self.found + seen.taken
        else:
            self.near, self.taken = self.near + 1, self.taken + seen.taken
        if seen.taken is not case.planted:
            what = "not judged" if seen.taken is None else "missed" if case.planted else "taken"
            self.wrong.append(f"{case.kind} | {what} | {seen.shown} | {case.url}")

    def row(self, name: str) -> str:
        """Of the table."""
        share, low, high = Share(self.found, self.planted), *Share(self.found, self.planted).interval()
        recall = f"{share.value:.3f} ({low:.3f}-{high:.3f})" if self.planted else ""
        marked = self.found + self.taken
        precision = f"{self.found / marked:.3f}" if self.planted and marked else ""
        figures = (self.planted, self.found, recall, self.near, self.taken, precision, self.unjudged)
        return f"| {name} | {' | '.join(map(str, figures))} |"


def table(seen: Iterable[tuple[Case, Verdict]]) -> Iterator[str]:
    """A row for each group of kinds, then all; the kinds of which something went wrong, and what."""
    kinds: dict[str, Count] = {}
    taken_for: dict[str, Count] = {group: Count() for group in TAKEN_FOR}
    for case, one in seen:
        kinds.setdefault(case.kind, Count()).add(case, one)
        if case.judge == "text" and not case.planted and one.taken is not None:
            for group, mark in TAKEN_FOR.items():
                taken_for[group].near += 1
                taken_for[group].taken += one.taken and re.search(mark, one.shown.rpartition("->")[2]) is not None
    groups: dict[str, Count] = {}
    every = Count()
    for kind, count in sorted(kinds.items()):
        groups.setdefault(kind.partition(":")[0], Count()).join(count)
        every.join(count)
    yield _HEAD
    for name, count in groups.items():
        count.join(taken_for.get(name, Count()))
        yield count.row(name)
    yield every.row("all")
    if every.wrong:
        yield f"\nWhere not all was as planned:\n\n{_HEAD}"
        yield from (count.row(kind) for kind, count in sorted(kinds.items()) if count.wrong)
        yield ""
        yield from (f"- {text}" for text in every.wrong)
