"""Running a stage: what is committed is taken as it is, the rest goes to the engine, every unit is accounted for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from obelics_pipeline.commit import Manifest, once, read_manifests
from obelics_pipeline.display import Display
from obelics_pipeline.engines.engine import Engine, Failure, MakeModel, Work, WorkWithModel
from obelics_pipeline.errors import UserError
from obelics_pipeline.events import EventLog
from obelics_pipeline.ledger import Ledger, total
from obelics_pipeline.storage import Place
from obelics_pipeline.unit import Unit

EngineMap = Callable[[Sequence[Unit]], Iterator[tuple[Unit, Manifest | Failure]]]  # a verb, but for the units


class StageRunner:
    """Maps stages over units, one after the other, and keeps the run's ledgers and failures."""

    def __init__(self, engine: Engine, events: EventLog, display: Display, only: Sequence[str]) -> None:
        self.engine, self.events, self._display = engine, events, display
        self._only = frozenset(only)  # the stages that may work; the others must be done already
        self.failures: list[dict[str, str]] = []
        self.fresh = 0  # units done by this run, not by an earlier one
        self.ledgers: dict[str, dict[str, Ledger]] = {}  # stage -> noun -> the sum over its units

    def map(self, stage: str, work: Work, units: Sequence[Unit], folder: Place, part_of: str = "") -> list[Manifest]:
        """The manifests of all units that could be done, in the order of `units`; the others are in `failures`.

        `part_of` names the stage that a step without a name of its own on the command line belongs to. Raises
        UserError where a stage that was not asked for has work left.
        """
        engine_map = partial(self.engine.map_units, partial(once, work=work, folder=folder))
        return self._run(stage, engine_map, units, folder, part_of)

    def map_here(self, stage: str, work: Work, units: Sequence[Unit], folder: Place, part_of: str) -> list[Manifest]:
        """As `map`, one unit after the other in this process: where two at a time would be one too many."""
        do = partial(once, work=work, folder=folder)
        return self._run(stage, lambda todo: ((unit, do(unit)) for unit in todo), units, folder, part_of)

    def map_models(
        self, stage: str, make: MakeModel, work: WorkWithModel, units: Sequence[Unit], folder: Place
    ) -> list[Manifest]:
        """As `map`, by workers that hold a model: see `Engine.map_models`."""
        engine_map = partial(self.engine.map_models, make, partial(once, work=work, folder=folder))
        return self._run(stage, engine_map, units, folder, "")

    def _run(
        self, stage: str, engine_map: EngineMap, units: Sequence[Unit], folder: Place, part_of: str
    ) -> list[Manifest]:
        done = read_manifests(folder, [unit.name for unit in units])
        todo = [unit for unit in units if unit.name not in done]
        if todo and (part_of or stage) not in self._only:
            raise UserError(f"--stage: {part_of or stage} has {len(todo)} of {len(units)} units to do; name it as well")
        self.events.write("stage_started", stage=stage, units=len(units), done=len(done))
        self._display.stage(f"{part_of}: {stage}" if part_of else stage, len(units), len(done), step=bool(part_of))
        for manifest in done.values():
            self._display.count(manifest.ledgers.values(), fresh=False)
        for unit, outcome in engine_map(todo) if todo else ():
            self._note(stage, unit, outcome)
            if isinstance(outcome, Manifest):
                done[unit.name] = outcome
            self._display.unit_done()
        manifests = [done[unit.name] for unit in units if unit.name in done]
        nouns = dict.fromkeys(noun for m in manifests for noun in m.ledgers)
        self.ledgers[stage] = {n: total(n, (m.ledgers[n] for m in manifests if n in m.ledgers)) for n in nouns}
        self.events.write("stage_done", stage=stage, units=len(manifests), failed=len(units) - len(manifests))
        return manifests

    def _note(self, stage: str, unit: Unit, outcome: Manifest | Failure) -> None:
        self.fresh += 1
        if isinstance(outcome, Failure):
            self.fail(stage, unit.name, outcome.reason)
            return
        counts: dict[str, Any] = {noun: ledger.to_json() for noun, ledger in outcome.ledgers.items()}
        self.events.write("unit_done", stage=stage, unit=unit.name, ledgers=counts)
        self._display.count(outcome.ledgers.values(), fresh=True)

    def say(self, line: str) -> None:
        """Tell a person something that is worth a line, and note it."""
        self.events.write("told", line=line)
        self._display.say(line)

    def fail(self, stage: str, unit: str, reason: str) -> None:
        """Note what could not be done; the run will end with exit code 1."""
        self.failures.append({"stage": stage, "unit": unit, "reason": reason})
        self.events.write("unit_failed", stage=stage, unit=unit, reason=reason)
        self._display.say(f"{stage}: {unit} failed: {reason}")
