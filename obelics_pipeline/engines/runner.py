"""Running a stage: what is committed is taken as it is, the rest goes to the engine, every unit is accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from obelics_pipeline.core.commit import Manifest, once, read_manifests
from obelics_pipeline.core.errors import Damaged, UserError
from obelics_pipeline.core.ledger import Ledger, total
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Engine, Failure, MakeModel, Work, WorkWithModel

Begin = Callable[[str, int, int], None]  # stage, units of it that are to be done or removed, units in all
EngineMap = Callable[[Sequence[Unit]], Iterator[tuple[Unit, Manifest | Failure]]]  # a verb, but for the units


class Events(Protocol):
    """Where a run notes what happens: see run/events.py."""

    def write(self, event: str, **values: Any) -> None:
        """Note one event."""


class Progress(Protocol):
    """What a person sees of a run: see run/display.py."""

    def stage(self, name: str, total: int, done: int, step: bool = False) -> None:
        """A stage, or a step of one, begins."""

    def unit_done(self) -> None:
        """One more unit is done."""

    def count(self, ledgers: Iterable[Ledger], fresh: bool) -> None:
        """Add the ledgers of a unit."""

    def say(self, line: str) -> None:
        """Show a line."""


class StageRunner:
    """Maps stages over units, one after the other, and keeps the run's ledgers and failures."""

    def __init__(
        self,
        engine: Engine,
        events: Events,
        display: Progress,
        only: Sequence[str],
        begin: Begin = lambda _stage, _todo, _units: None,
    ) -> None:
        """`begin` is called before anything is done, or removed, that an earlier run left; it may refuse."""
        self.engine, self.events, self._display, self.begin = engine, events, display, begin
        self._only = frozenset(only)  # the stages that may work; the others must be done already
        self.failures: list[dict[str, str]] = []
        self.fresh = 0  # units done by this run, not by an earlier one
        self.ledgers: dict[str, dict[str, Ledger]] = {}  # stage -> noun -> the sum over its units

    def map(self, stage: str, work: Work, units: Sequence[Unit], folder: Location, part_of: str = "") -> list[Manifest]:
        """The manifests of all units that could be done, in the order of `units`; the others are in `failures`.

        `part_of` names the stage that a step without a name of its own on the command line belongs to. Raises
        UserError where a stage that was not asked for has work left, and Damaged, once the other units are done, where
        some could not read what an earlier stage had committed.
        """
        engine_map = partial(self.engine.map_units, partial(once, work=work, folder=folder))
        return self._run(stage, engine_map, units, folder, part_of)

    def map_here(self, stage: str, work: Work, units: Sequence[Unit], folder: Location, part_of: str) -> list[Manifest]:
        """As `map`, one unit after the other in this process: where two at a time would be one too many."""
        do = partial(once, work=work, folder=folder)
        return self._run(stage, lambda todo: ((unit, do(unit)) for unit in todo), units, folder, part_of)

    def map_models(
        self, stage: str, make: MakeModel, work: WorkWithModel, units: Sequence[Unit], folder: Location
    ) -> list[Manifest]:
        """As `map`, by workers that hold a model: see `Engine.map_models`."""
        engine_map = partial(self.engine.map_models, make, partial(once, work=work, folder=folder))
        return self._run(stage, engine_map, units, folder, "")

    def _run(
        self, stage: str, engine_map: EngineMap, units: Sequence[Unit], folder: Location, part_of: str
    ) -> list[Manifest]:
        done = read_manifests(folder, [unit.name for unit in units])
        todo = [unit for unit in units if unit.name not in done]
        if todo and (part_of or stage) not in self._only:
            raise UserError(f"--stage: {part_of or stage} has {len(todo)} of {len(units)} units to do; name it as well")
        if todo:
            self.begin(part_of or stage, len(todo), len(units))
        self.events.write("stage_started", stage=stage, units=len(units), done=len(done), **_so_far(units, done))
        self._display.stage(f"{part_of}: {stage}" if part_of else stage, len(units), len(done), step=bool(part_of))
        for manifest in done.values():
            self._display.count(manifest.ledgers.values(), fresh=False)
        damaged: set[str] = set()
        for unit, outcome in engine_map(todo) if todo else ():
            if isinstance(outcome, Failure) and outcome.damaged:
                damaged.update(outcome.damaged)
                continue
            self._note(stage, unit, outcome)
            if isinstance(outcome, Manifest):
                done[unit.name] = outcome
            self._display.unit_done()
        if damaged:
            raise Damaged(*sorted(damaged))
        manifests = [done[unit.name] for unit in units if unit.name in done]
        nouns = dict.fromkeys(noun for m in manifests for noun in m.ledgers)
        self.ledgers[stage] = {n: total(n, (m.ledgers[n] for m in manifests if n in m.ledgers)) for n in nouns}
        counts = {noun: ledger.to_json() for noun, ledger in self.ledgers[stage].items()}
        failed = len(units) - len(manifests)
        self.events.write("stage_done", stage=stage, units=len(manifests), failed=failed, ledgers=counts)
        return manifests

    def _note(self, stage: str, unit: Unit, outcome: Manifest | Failure) -> None:
        self.fresh += 1
        reads = {"input": dict(unit.input)} if unit.input else {}
        if isinstance(outcome, Failure):
            self.fail(stage, unit.name, outcome.reason, **reads)
            return
        counts: dict[str, Any] = {noun: ledger.to_json() for noun, ledger in outcome.ledgers.items()}
        self.events.write("unit_done", stage=stage, unit=unit.name, ledgers=counts, **reads, **outcome.told)
        self._display.count(outcome.ledgers.values(), fresh=True)

    def say(self, line: str) -> None:
        """Tell a person something that is worth a line, and note it."""
        self.events.write("told", line=line)
        self._display.say(line)

    def fail(self, stage: str, unit: str, reason: str, **told: Any) -> None:
        """Note what could not be done, with more values for the log; the run will end with exit code 1."""
        self.failures.append({"stage": stage, "unit": unit, "reason": reason})
        self.events.write("unit_failed", stage=stage, unit=unit, reason=reason, **told)
        self._display.say(f"{stage}: {unit} failed: {reason}")


def _so_far(units: Sequence[Unit], done: Mapping[str, Manifest]) -> dict[str, Any]:
    """What a stage reads in all, as far as its units say so, and what its committed units have read and counted."""
    told: dict[str, Any] = {}
    if any(unit.input for unit in units):
        told["input"] = _sum_of_input(units)
        told["input_done"] = _sum_of_input([unit for unit in units if unit.name in done])
    nouns = dict.fromkeys(noun for m in done.values() for noun in m.ledgers)
    if nouns:
        sums = (total(noun, (m.ledgers[noun] for m in done.values() if noun in m.ledgers)) for noun in nouns)
        told["ledgers"] = {ledger.noun: ledger.to_json() for ledger in sums}
    return told


def _sum_of_input(units: Iterable[Unit]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for unit in units:
        found.update(unit.input)
    return dict(found)
