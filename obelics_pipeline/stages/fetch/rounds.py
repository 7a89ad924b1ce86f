"""Rounds of a fetch unit: what it has when its time is over is committed beside it, and it goes on, on any worker.

A round is a unit with a name of its own: results that no earlier round has, what origins said, and a ledger of these
results; no answers. The unit itself is committed once no URL is left, with all results, and its rounds go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from obelics_pipeline.core.commit import Manifest, read_manifest
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import Unit, digest

ROUND_OF = "round_of"  # note of a round: the name of its unit


def is_round(manifest: Manifest) -> bool:
    """Whether what is committed is a round of a unit, and no unit that is done."""
    return ROUND_OF in manifest.notes


@dataclass(frozen=True)
class Rounds:
    """The rounds of a unit that are committed, and free ones: the next, and those that were damaged."""

    committed: tuple[Manifest, ...]
    free: tuple[Unit, ...]

    @property
    def next(self) -> Unit:
        """The round that the unit commits where its time is over before it is done."""
        return self.free[0]


def rounds_of(folder: Location, unit: Unit, known: Iterable[Manifest]) -> Rounds:
    """The rounds of a unit. `known` was committed when the unit was planned.

    The next round is the first free one, so those that were committed since are found without a look at all names.
    """
    found = {m.unit: m for m in known if m.notes.get(ROUND_OF) == unit.name}
    number = 0
    while (manifest := _known(folder, _round(unit, number).name, found)) is not None:
        found[manifest.unit] = manifest
        number += 1
    free = (_round(unit, n) for n in range(len(found) + 1))
    return Rounds(tuple(found.values()), tuple(round_ for round_ in free if round_.name not in found))


def _known(folder: Location, name: str, found: dict[str, Manifest]) -> Manifest | None:
    return found.get(name) or read_manifest(folder, name)


def _round(unit: Unit, number: int) -> Unit:
    return Unit(unit.stage, digest(unit.id, "round", number), unit.label)
