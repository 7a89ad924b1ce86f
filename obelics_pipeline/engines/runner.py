"""Running a stage: what is committed is taken as it is, the rest goes to the engine, every unit is accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from obelics_pipeline.core.commit import LEFT, Manifest, named_manifests, once
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import Damaged, UserError
from obelics_pipeline.core.ledger import Ledger, totals
from obelics_pipeline.core.packed import Packed
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

    def map(
        self, stage: str, work: Work, units: Sequence[Unit], folder: Location, part_of: str = ""
    ) -> Sequence[Manifest]:
        """The manifests of all units that could be done, in the order of `units`; the others are in `failures`.

        A unit may hand back a manifest under another name, of what it had time for, which notes how much is `LEFT`. It
        is given to a worker again, once all others had their turn, until its own manifest comes.

        `part_of` names the stage that a step without a name of its own on the command line belongs to. Raises
        UserError where a stage that was not asked for has work left, and Damaged, once the other units are done, where
        some could not read what an earlier stage had committed.
        """
        engine_map = partial(self.engine.map_units, partial(once, work=work, folder=folder))
        return self._run(stage, engine_map, units, folder, part_of)

    def map_here(
        self, stage: str, work: Work, units: Sequence[Unit], folder: Location, part_of: str
    ) -> Sequence[Manifest]:
        """As `map`, one unit after the other in this process: where two at a time would be one too many."""
        do = partial(once, work=work, folder=folder)
        return self._run(stage, lambda todo: ((unit, do(unit)) for unit in todo), units, folder, part_of)

    def map_models(
        self, stage: str, make: MakeModel, work: WorkWithModel, units: Sequence[Unit], folder: Location
    ) -> Sequence[Manifest]:
        """As `map`, by workers that hold a model: see `Engine.map_models`."""
        engine_map = partial(self.engine.map_models, make, partial(once, work=work, folder=folder))
        return self._run(stage, engine_map, units, folder, "")

    def _run(
        self, stage: str, engine_map: EngineMap, units: Sequence[Unit], folder: Location, part_of: str
    ) -> Sequence[Manifest]:
        done, at = Packed[Manifest](), dict[str, int]()  # as they come, and the place of each there, by its name
        for name, manifest in named_manifests(folder, [unit.name for unit in units]):
            at[name] = len(done)
            done.append(manifest)
        todo = Packed(unit for unit in units if unit.name not in at) if at else units
        if todo and (part_of or stage) not in self._only:
            raise UserError(f"--stage: {part_of or stage} has {len(todo)} of {len(units)} units to do; name it as well")
        if todo:
            self.begin(part_of or stage, len(todo), len(units))
        self.events.write("stage_started", stage=stage, units=len(units), done=len(done), **_so_far(units, done, at))
        self._display.stage(f"{part_of}: {stage}" if part_of else stage, len(units), len(done), step=bool(part_of))
        for manifest in done:
            self._display.count(manifest.ledgers.values(), fresh=False)
        damaged: set[str] = set()
        while todo:
            rounds: list[tuple[Unit, Manifest]] = []  # what units had time for that are not done
            for unit, outcome in engine_map(todo):
                if isinstance(outcome, Failure) and outcome.damaged:
                    damaged.update(outcome.damaged)
                elif isinstance(outcome, Manifest) and outcome.unit != unit.name:
                    rounds.append((unit, outcome))
                else:
                    self._note(stage, unit, outcome)
                    if isinstance(outcome, Manifest):
                        at[unit.name] = len(done)
                        done.append(replace(outcome, told={}))
                    self._display.unit_done()
            if rounds:
                left = sum(manifest.notes[LEFT] for _, manifest in rounds)
                over = f"time is over for {counted(len(rounds), 'units')}"
                self.say(f"{stage}: {over}; another round begins, with {left:,} left to do")
            todo = [unit for unit, _ in rounds]
        if damaged:
            raise Damaged(*sorted(damaged))
        manifests = done.chosen(at[unit.name] for unit in units if unit.name in at)
        self.ledgers[stage] = totals(m.ledgers for m in manifests)
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


def _so_far(units: Sequence[Unit], done: Iterable[Manifest], names: Container[str]) -> dict[str, Any]:
    """What a stage reads in all, where its units say so; what those that are done, of these names, read and counted."""
    told: dict[str, Any] = {}
    if units and units[0].input:
        told["input"] = _sum_of_input(units)
        told["input_done"] = _sum_of_input(unit for unit in units if unit.name in names)
    if sums := totals(manifest.ledgers for manifest in done):
        told["ledgers"] = {noun: ledger.to_json() for noun, ledger in sums.items()}
    return told


def _sum_of_input(units: Iterable[Unit]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for unit in units:
        found.update(unit.input)
    return dict(found)
