"""Running a stage: what is committed is taken as it is, the rest goes to the engine, and every unit is accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from obelics_pipeline.commit import Manifest, read_manifest
from obelics_pipeline.display import Display
from obelics_pipeline.engines.engine import Engine, Failure, Work
from obelics_pipeline.events import EventLog
from obelics_pipeline.ledger import Ledger, total
from obelics_pipeline.unit import Unit


class StageRunner:
    """Maps stages over units, one after the other, and keeps the run's ledgers and failures."""

    def __init__(self, engine: Engine, events: EventLog, display: Display) -> None:
        self.engine, self._events, self._display = engine, events, display
        self.failures: list[dict[str, str]] = []
        self.fresh = 0  # units done by this run, not by an earlier one
        self.ledgers: dict[str, dict[str, Ledger]] = {}  # stage -> noun -> the sum over its units

    def map(self, stage: str, work: Work, units: Sequence[Unit], folder: Path, shown: bool = True) -> list[Manifest]:
        """The manifests of all units that could be done, in the order of `units`; the others are in `failures`."""
        done = {unit.name: manifest for unit in units if (manifest := read_manifest(folder, unit.name)) is not None}
        todo = [unit for unit in units if unit.name not in done]
        self._events.write("stage_started", stage=stage, units=len(units), done=len(done))
        if shown:
            self._display.stage(stage, len(units), len(done))
        for manifest in done.values():
            self._display.count(manifest.ledgers.values(), fresh=False)
        for unit, outcome in self.engine.map_units(work, todo):
            self._note(stage, unit, outcome)
            if isinstance(outcome, Manifest):
                done[unit.name] = outcome
            if shown:
                self._display.unit_done()
        manifests = [done[unit.name] for unit in units if unit.name in done]
        nouns = dict.fromkeys(noun for m in manifests for noun in m.ledgers)
        self.ledgers[stage] = {n: total(n, (m.ledgers[n] for m in manifests if n in m.ledgers)) for n in nouns}
        self._events.write("stage_done", stage=stage, units=len(manifests), failed=len(units) - len(manifests))
        return manifests

    def _note(self, stage: str, unit: Unit, outcome: Manifest | Failure) -> None:
        self.fresh += 1
        if isinstance(outcome, Failure):
            self.failures.append({"stage": stage, "unit": unit.name, "reason": outcome.reason})
            self._events.write("unit_failed", stage=stage, unit=unit.name, reason=outcome.reason)
            self._display.say(f"{stage}: unit {unit.name} failed: {outcome.reason}")
            return
        counts: dict[str, Any] = {noun: ledger.to_json() for noun, ledger in outcome.ledgers.items()}
        self._events.write("unit_done", stage=stage, unit=unit.name, ledgers=counts)
        self._display.count(outcome.ledgers.values(), fresh=True)
