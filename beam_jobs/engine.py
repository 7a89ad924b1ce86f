"""The main job's engine on Apache Beam: each verb is one pipeline."""

from __future__ import annotations

import errno
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from obelics_pipeline.beam_jobs.child_process import ChildProcess
from obelics_pipeline.beam_jobs.graphs import build_map, build_map_models, build_map_units, build_shuffle, write_units
from obelics_pipeline.beam_jobs.options import runs_here, with_runner
from obelics_pipeline.beam_jobs.outcomes import Answer, Outcome, Outcomes
from obelics_pipeline.beam_jobs.runs import Build, ClusterLauncher, Launcher, ProcessLauncher
from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, is_local, remove_tree
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure, MakeModel, Work, WorkWithModel
from obelics_pipeline.engines.groups import Group, Reduce, read_groups

Value = TypeVar("Value")

ATTEMPTS = 4  # runs of a pipeline in which nothing came back, before what is left is given up; as Dataflow does
POLL_SECONDS, POLL_SECONDS_REMOTE = 0.1, 5.0  # between two looks at the outcomes: on a disk, behind a network
LOG = "beam.log"  # what Beam's own processes say, where they are of this machine
NOTES = "beam"  # folder within the run's: what travels between driver and workers; empty between two verbs


class BeamEngine:
    """Runs units on a Beam runner, with Beam's own options. Use as a context manager.

    `folder` is the run's, which workers and driver both reach. `preload` names modules that children of one worker
    share. `counters` are the sums of Beam's counters over the pipelines that ended well; they count attempts.
    """

    def __init__(
        self, options: Sequence[str], folder: Location, unit_timeout_seconds: float, preload: Sequence[str] = ()
    ) -> None:
        self.options = with_runner(options)
        self.counters: Counter[str] = Counter()
        self._folder, self._guard = folder, ChildProcess(folder, unit_timeout_seconds, tuple(preload))
        self._notes = folder / NOTES
        self._launcher: Launcher = (
            ProcessLauncher(self.options, _log(folder)) if runs_here(self.options) else ClusterLauncher(self.options)
        )

    def __enter__(self) -> BeamEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self._launcher.close()
        remove_tree(self._notes)

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit once, as they finish; see `LocalEngine.map_units`, whose rules hold within each worker."""
        return self._units_done(partial(build_map_units, work=work), units)

    def map_models(
        self, make: MakeModel, work: WorkWithModel, units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """As `map_units`, by RunInference: `work(unit, model)`, with one model per machine."""
        try:
            yield from self._units_done(partial(build_map_models, make=make, work=work), units)
        finally:
            self._launcher.close()  # a process of this machine that has run it would keep the model

    def _units_done(
        self, build_verb: Callable[..., None], units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Manifest | Failure]]:
        by_name = {unit.name: unit for unit in units}

        def build(names: Sequence[str], outcomes: Outcomes) -> Build:
            files = write_units([by_name[name] for name in names], self._notes / "units")
            return partial(build_verb, files=files, guard=self._guard, outcomes=outcomes)

        for name, outcome in self._collect(list(by_name), build):
            assert isinstance(outcome, Manifest | Failure)
            yield by_name[name], outcome

    def map(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterator[Value]:
        """What a picklable function gives for each item, in their order. Raises what it raises.

        Values must be JSON values: they travel as files. Raises TypeError for others.
        """
        listed = list(items)
        if len(listed) == 1:  # nothing to deal out; starting workers takes seconds, on a cluster minutes
            with self._guard.open() as here:
                return here.map(function, listed)
        numbered = {str(number): (number, item) for number, item in enumerate(listed)}

        def build(names: Sequence[str], outcomes: Outcomes) -> Build:
            left = [numbered[name] for name in names]
            return partial(build_map, function=function, items=left, guard=self._guard, outcomes=outcomes)

        found: dict[str, Any] = {}
        for name, outcome in self._collect(list(numbered), build):
            if isinstance(outcome, Failure):
                raise RuntimeError(f"{outcome.reason} at {numbered[name][1]!r}"[:500])
            assert isinstance(outcome, Answer)
            found[name] = outcome.value
        return iter([found[name] for name in numbered])

    def shuffle(self, sources: Sequence[Location], column: str, reduce: Reduce, output: Location) -> dict[str, Group]:
        """Beam's own GroupByKey brings rows together by a column; its workers reduce each group."""
        build = partial(build_shuffle, sources=list(sources), column=column, reduce=reduce, output=output)
        remove_tree(output)
        if not sources:
            return {}
        for _attempt in range(ATTEMPTS):
            problem = self._run_to_end(build)
            if problem is None:
                return read_groups(output, column, sources)
            remove_tree(output)
        raise RuntimeError(f"shuffle by {column}: {problem}; {ATTEMPTS} attempts")

    def _collect(
        self, names: Sequence[str], build: Callable[[Sequence[str], Outcomes], Build]
    ) -> Iterator[tuple[str, Outcome]]:
        """The outcome of each named element, as they come. Pipelines are run until all are there or none comes.

        Raises an outcome that is an exception.
        """
        outcomes = Outcomes(self._notes / "outcomes")
        waiting, in_vain = dict.fromkeys(names), 0
        outcomes.clear()
        while waiting:
            before, problem = len(waiting), None
            run = self._launcher.start(build(list(waiting), outcomes))
            ended = False
            try:
                while not ended:
                    result = run.wait(POLL_SECONDS if is_local(self._folder) else POLL_SECONDS_REMOTE)
                    ended = result is not None
                    if isinstance(result, Exception):
                        problem = result
                    elif result is not None:
                        self.counters.update(result)
                    for name, outcome in outcomes.take():  # once more after the end
                        if isinstance(outcome, Exception):
                            raise outcome
                        if name in waiting:
                            del waiting[name]
                            yield name, outcome
            finally:
                if not ended:
                    run.stop()
            _raise_what_no_attempt_mends(problem)
            in_vain = in_vain + 1 if len(waiting) == before else 0
            if in_vain == ATTEMPTS:
                yield from (
                    (name, Failure(f"{problem or 'Beam did not run it'}; {ATTEMPTS} attempts")) for name in waiting
                )
                return

    def _run_to_end(self, build: Build) -> Exception | None:
        run, result = self._launcher.start(build), None
        try:
            while result is None:
                result = run.wait(POLL_SECONDS if is_local(self._folder) else POLL_SECONDS_REMOTE)
        finally:
            if result is None:
                run.stop()
        if isinstance(result, Exception):
            _raise_what_no_attempt_mends(result)
            return result
        self.counters.update(result)
        return None


def _log(folder: Location) -> Path:
    return folder / LOG if isinstance(folder, Path) else Path(tempfile.gettempdir()) / LOG


def _raise_what_no_attempt_mends(problem: Exception | None) -> None:
    """Wrong options, a full disk."""
    if isinstance(problem, UserError) or (isinstance(problem, OSError) and problem.errno == errno.ENOSPC):
        raise problem
