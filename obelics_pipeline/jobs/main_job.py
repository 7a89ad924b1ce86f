"""The main job: WARC files in, validated shards out, from wherever an earlier run of the same command stopped."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from rich.console import Console

from obelics_pipeline.core.access import access_lost
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.corpus import read_corpora
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import DISK_FULL, Stopped, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.process import this_process
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.storage import Location, is_local, location, names_in, remove, scratch_of
from obelics_pipeline.engines.attempts import disk_full
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.jobs.claim import Claim, Renewed
from obelics_pipeline.jobs.compiled_parts import slow_parts
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog, read_events
from obelics_pipeline.jobs.hooks.configured import About, hooks_of, refuse_unready
from obelics_pipeline.jobs.hooks.hooks import telling
from obelics_pipeline.jobs.mending import until_whole
from obelics_pipeline.jobs.noted import note_stages, stages_in
from obelics_pipeline.jobs.publish import publish
from obelics_pipeline.jobs.remove_packs import remove_packs
from obelics_pipeline.jobs.revisions import clear, make_current, plan_of
from obelics_pipeline.jobs.run_ledgers import summary
from obelics_pipeline.jobs.stages import (
    PRELOAD,
    code_of_stages,
    columns_of,
    named_of,
    names_of,
    refuse_equal_columns,
    stages_of,
)
from obelics_pipeline.policy.image_safety.report import check_report
from obelics_pipeline.policy.tombstones.tombstones import FOLDER, listed, refuse_unfinished, stored
from obelics_pipeline.stages.consent.stage import UNANSWERED
from obelics_pipeline.stages.fetch.reason import check_reasons
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.read.inputs import Inputs, resolve_inputs
from obelics_pipeline.stages.score.trial import processes
from obelics_pipeline.stages.shard.check_shard import skipped_checks
from obelics_pipeline.stages.shard.validate import problems
from obelics_pipeline.stages.stage import Stage

FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
UNIT_SECONDS = 3600.0  # a unit that takes longer is killed and tried again: nothing in it should take that long

OpenEngine = Callable[[Location, RunConfig], AbstractContextManager[Engine]]  # from the run's folder and its config


def run(
    config: str,
    inputs: Sequence[str],
    output: str | Location,
    workers: int = 1,
    overrides: Sequence[str] = (),
    stages: Sequence[str] = (),
    retry: Sequence[str] = (),
    force: bool = False,
    against: Sequence[str] = (),
    open_engine: OpenEngine | None = None,
    sample: float | None = None,
    yes: bool = False,
) -> int:
    """Run the main job; returns the exit code 0 (done) or 1 (finished, with failed units).

    `config` is a file, or the name of a bundled config; `inputs` are paths, globs and URLs, or one of them.
    `stages` are the names of those that may work, all where it is empty; the others must be done already. `against` are
    the outputs of finished runs, whose documents count and come first where duplicates are looked for.
    `sample`, above 0 and at most 1, is the share of the input that is read, for thresholds to be chosen on; every score
    of it is measured and every image fetched. `open_engine` makes the engine; without it, the local one with `workers`
    processes. A finished run in the folder that this one would change is touched only where a person at the
    terminal agrees, or by `yes` or `force`. Raises UserError for what a person can mend, Stopped where the same command
    goes on later.

    >>> import obelics_pipeline as op
    >>> values = ["fetch.enabled=false", "images.min_per_document=0", "dedup.enabled=false", "language.min_score=0"]
    >>> values += ["filters.document={word_count: {min: 10}}"]
    >>> op.run("default", str(warc), folder / "out", overrides=values)
    0
    >>> len(op.Run(folder / "out"))
    6
    """
    if sample is not None and not 0 < sample <= 1:
        raise UserError(f"--sample {sample}: must be a share of the input, above 0 and at most 1, e.g. 0.01")
    check_reasons(retry, (UNANSWERED,))
    inputs = [inputs] if isinstance(inputs, str) else inputs
    checked = load_config(config, overrides)
    every = stages_of(checked)
    named = named_of(every, stages)
    refuse_equal_columns(every, checked)
    refuse_unready(checked.hooks)
    notices = [*slow_parts(), *(line for stage in named for line in stage.check(checked))]
    sources = resolve_inputs(inputs, checked.reading)
    if sources.is_empty():
        raise UserError(f"--input {' '.join(inputs)}: no table of pointers has a row, so there is nothing to read")
    options = checked.reading.storage_options
    folder = _folder_at(location(str(output), options))
    check_report(checked.image_safety.report, folder.base)
    if against and not checked.dedup.enabled:
        raise UserError("--against compares with another run, and dedup.enabled is false: leave one of the two out")
    earlier = read_corpora(against, checked.dedup, options)
    forgotten = listed(checked.forgotten, options, "forgotten:")
    forgotten += [where for corpus in earlier if stored(where := corpus.folder.path / FOLDER)]
    name = Path(config).name.removesuffix(".yaml")
    base = folder.base
    with _stop_on_signal(), folder.locked(), _mendable(base):
        sources_of = code_of_stages(every, checked)

        def differences(folder: RunFolder) -> list[str]:
            found = folder.differing(name, checked, force, sample, against, sources_of)
            return found + folder.differing_inputs(sources.versions)

        folder, changed = _chosen(base, differences)
        refuse_unfinished(folder.path, *(corpus.folder.path for corpus in earlier))
        if not force:
            folder.refuse_other_input(sources.versions)
        gone = [stage for stage in stages_in(folder) if stage.name not in names_of(every)]
        touches = bool(changed) and folder.holds_shards()
        asks = touches and not (yes or force)
        about = About(checked, name, _shown(base), every, sources_of)
        hooks = hooks_of(about, read_events(folder.events) if checked.hooks else ())
        with (
            closing(EventLog(folder.events, held=asks)) as events,
            Display(Console()) as display,
            telling(hooks, events, display),
        ):
            started = {"workers": workers, "changed": changed, "sample": sample}
            of_config = {"config": config, "config_sha256": about.config_sha256}
            of_process = {"process": this_process(), "stages": _ahead(every, named, checked)}
            events.write("run_started", **of_config, inputs=list(inputs), output=about.output, **started, **of_process)
            for line in notices + _format_changes(changed, asks):
                display.say(line)

            def say(line: str) -> None:
                events.write("told", line=line)
                display.say(line)

            def agrees(question: str) -> bool | None:
                return True if yes or force else display.agrees(question)

            def claim_of(folder: RunFolder, changed: Sequence[str], renews: bool) -> Claim:
                def take() -> None:
                    folder.claim(name, checked, sample, against, sources_of)
                    note_stages(folder, every, checked)
                    events.release()

                def plan(stage: str, todo: int, units: int) -> None:
                    for line in plan_of(folder, every, stage, todo, units):
                        display.say(line)

                return Claim(base, changed, agrees, take, plan if renews else None)

            def attempt(folder: RunFolder, claim: Claim) -> int:
                display.begin_again()
                with (open_engine or partial(_local_engine, workers, named))(base, checked) as engine:
                    runner = StageRunner(engine, events, display, names_of(named), claim.begin)
                    columns = columns_of(every, checked)
                    job = Job(folder, checked, runner, columns, earlier, sample, forgotten, retry)
                    job.shared(Inputs, lambda: sources)
                    for stage in gone:
                        job.leave_out(stage.name, stage.folder(folder.path))
                    if changed or not folder.manifest.exists():
                        _try(job, named)
                    return _run(job, every, named, display)

            def whole(folder: RunFolder, claim: Claim) -> int:
                code = until_whole(partial(attempt, folder, claim), folder, say)
                claim.take()
                return code

            claim = claim_of(folder, changed, touches and folder.is_validated())
            if not touches:
                claim.take()
            try:
                code = whole(folder, claim)
            except Renewed:
                folder = _renewed(base, say)
                claim = claim_of(folder, (), False)
                claim.take()
                code = whole(folder, claim)
            whole_now = folder.is_validated()
            if folder.path != revisions_of(base).current() and whole_now:
                make_current(folder, agrees, say)
            if code == 0 and whole_now and checked.fetch.enabled and not checked.shard.keep_packs:
                remove_packs(base, say)
            events.write("run_done", exit_code=code)
            return code


def _shown(folder: Location) -> str:
    """A run's folder for those who are elsewhere: whole, and without secrets."""
    return str(redacted(str(folder.absolute() if isinstance(folder, Path) else folder)))


def _folder_at(output: Location) -> RunFolder:
    """The run's folder. Raises UserError where its store does not say what is there: nothing has begun yet."""
    try:
        return RunFolder(output)
    except Stopped as error:
        raise UserError(f"--output {error}") from None
    except OSError as error:
        why = f"cannot be read ({error.strerror or error})"
        raise UserError(f"--output {output}: {why}; give another bucket or folder") from None


def _chosen(base: Location, differences: Callable[[RunFolder], list[str]]) -> tuple[RunFolder, list[str]]:
    """The revision to work in, and how it differs.

    That is one with the same values, or else one that was begun and is not whole, or the current one. The current one
    is looked at first, then the newest. Raises what `differences` does of the one that is chosen.
    """
    here, known = RunFolder(base), revisions_of(base)
    others = [RunFolder(base, n) for n in reversed(known.numbers()) if n != known.current_number()]
    for folder in (here, *others):
        with suppress(UserError):  # of another config altogether: raised of the one that is chosen
            if not differences(folder):
                return folder, []
    chosen = next((folder for folder in others if not folder.is_validated()), here)
    return chosen, differences(chosen)


def _renewed(base: Location, say: Callable[[str], None]) -> RunFolder:
    """A new revision with all that the current one has."""
    clear(base)
    revisions = revisions_of(base)
    before = revisions.current_number()
    folder = RunFolder(revisions.begin())
    say(f"revision {folder.path.name} begins from revision {before}, which stays as it is")
    return folder


def _format_changes(changed: Sequence[str], asks: bool) -> list[str]:
    redone = "" if asks else "; what it touches is redone"
    return [f"changed since the last run here: {line}{redone}" for line in changed]


@contextmanager
def _mendable(folder: Location) -> Iterator[None]:
    """Errors of the disk or the store of a run's folder, as what a person can do. Raises Stopped and UserError."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Stopped(disk_full(error)) from None
        if error.errno in FORBIDDEN:
            raise UserError(f"{error.filename}: {error.strerror}; make it writable or give another --output") from None
        if (why := access_lost(error)) is not None and not is_local(folder):
            raise Stopped(f"{folder}: no access ({why}); see the credentials; then go on by the same command") from None
        raise


def _local_engine(workers: int, stages: Sequence[Stage], folder: Location, config: RunConfig) -> LocalEngine:
    preload = [*PRELOAD, *(module for stage in stages for module in stage.preload)]
    return LocalEngine(workers, scratch_of(folder), UNIT_SECONDS, preload, models=processes(config.models))


def open_ray(
    address: str | None, workers: int | None, folder: Location, config: RunConfig
) -> AbstractContextManager[Engine]:
    """The engine of a Ray cluster; see `engines.on_ray`. Raises UserError where Ray is not installed."""
    from obelics_pipeline.engines.on_ray.engine import RayEngine

    if find_spec("ray") is None:
        raise UserError("the engine ray needs the extra: pip install 'obelics-pipeline[ray]'")
    return RayEngine(address, workers, folder, UNIT_SECONDS, config.ray, PRELOAD)


def _try(job: Job, stages: Sequence[Stage]) -> None:
    for stage in stages:
        if stage.trial is not None:
            stage.trial(job)


def _run(job: Job, every: Sequence[Stage], named: Sequence[Stage], display: Display) -> int:
    """The stages in order, up to the last that is named; the last of all makes a finished run."""
    for stage in every[: every.index(named[-1]) + 1]:
        stage.do(job)
    publishes = named[-1] is every[-1]
    if publishes:
        publish(job, every)
        _validate(job, display)
    return _conclude(job, named, publishes, display)


def _ahead(every: Sequence[Stage], named: Sequence[Stage], config: RunConfig) -> list[str]:
    """The names of the stages that a run will do, in their order."""
    return [stage.name for stage in every[: every.index(named[-1]) + 1] if stage.active(config)]


def _validate(job: Job, display: Display) -> None:
    """Read every shard back before anything is called done. Nothing new: nothing to read."""
    if not job.folder.is_validated():
        shards = sum(name.endswith(".tar") for name in names_in(job.folder.shards))
        job.runner.events.write("stage_started", stage="validate", units=shards, done=0)
        found = problems(job.folder.path, job.runner.engine.map)
        for problem in found:
            job.runner.fail("validate", problem, "the shards do not read back as written; report this as a bug")
        job.runner.events.write("stage_done", stage="validate", units=shards, failed=len(found))
        if found:
            remove([job.folder.manifest])
        else:
            job.folder.mark_validated()
            left_out = "".join(f"; not checked: {line}" for line in skipped_checks())
            display.say(f"validated: all shards were read back; hashes, counts and alignment are right{left_out}")


def _conclude(job: Job, named: Sequence[Stage], publishes: bool, display: Display) -> int:
    lost = job.lost()
    for line in lost:
        display.say(f"not conserved: {line}; this is a bug")
    if job.runner.failures:
        units = counted(len(job.runner.failures), "units")
        display.say(f"{units} failed (see {job.folder.events}); run the same command to try again")
        return 1
    if lost:
        return 1
    if job.runner.fresh == 0:
        display.say(f"nothing to do: {_what_is_done(job, named, publishes)}")
    elif publishes:
        display.say(summary(job.ledgers, job.folder.shards))
    if publishes and not job.ledgers["documents"].kept:
        display.say("warning: no document was kept, so the corpus is empty; see obelics report for the reasons")
    return 0


def _what_is_done(job: Job, named: Sequence[Stage], publishes: bool) -> str:
    """The summary of a run that found everything done. It says complete only of bytes that were read again."""
    if not publishes:
        return f"{', '.join(names_of(named))} of {job.folder.base} was done before"
    read = "index and tars" if is_local(job.folder.path) else "index and the sizes of its tars"
    return f"{job.folder.base} is complete; its {read} match its manifest"


@contextmanager
def _stop_on_signal() -> Iterator[None]:
    """SIGTERM stops a run as Ctrl-C does: what is committed stays, the rest is done by the next run."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped("stopped; run the same command again to continue")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
