"""The main job: WARC files in, validated shards out, from wherever an earlier run of the same command stopped."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from rich.console import Console

from filters.rule import build_rules
from obelics_pipeline.access import access_lost
from obelics_pipeline.config import RunConfig, load_config
from obelics_pipeline.corpus import read_corpora
from obelics_pipeline.display import Display
from obelics_pipeline.engines.attempts import DISK_FULL, disk_full
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.errors import Stopped, UserError
from obelics_pipeline.events import EventLog
from obelics_pipeline.extract.measure import Measurer, score_names
from obelics_pipeline.extract.safety import notices as safety_notices
from obelics_pipeline.extract.safety import safety_of
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.image_safety.known_abuse import prepare
from obelics_pipeline.image_safety.report import check_report, hook
from obelics_pipeline.job import Job
from obelics_pipeline.model_scores.document_models import model_columns
from obelics_pipeline.model_scores.identity import check_bounds, models_identity
from obelics_pipeline.model_scores.trial import processes, try_models
from obelics_pipeline.opt_out_service.service import Service
from obelics_pipeline.read.inputs import Inputs, resolve_inputs
from obelics_pipeline.shard.check_shard import skipped_checks
from obelics_pipeline.shard.validate import problems
from obelics_pipeline.site.columns import require_score
from obelics_pipeline.stages import StageRunner
from obelics_pipeline.storage import Place, is_local, names_in, place, remove, scratch_of
from obelics_pipeline.tombstones.tombstones import FOLDER, listed, refuse_unfinished, stored

STAGES = ("extract", "dedup", "site", "consent", "fetch", "dedup-images", "assemble", "score", "shard")
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
UNIT_SECONDS = 3600.0  # a unit that takes longer is killed and tried again: nothing in it should take that long
PRELOAD = ("obelics_pipeline.job",)  # what every unit needs, imported once before workers are forked

OpenEngine = Callable[[Place, RunConfig], AbstractContextManager[Engine]]  # from the run's folder and its config


def run(
    config: str,
    inputs: Sequence[str],
    output: str | Place,
    workers: int,
    overrides: Sequence[str] = (),
    stages: Sequence[str] = STAGES,
    retry: Sequence[str] = (),
    force: bool = False,
    against: Sequence[str] = (),
    open_engine: OpenEngine | None = None,
    sample: float | None = None,
) -> int:
    """Run the main job; returns the exit code 0 (done) or 1 (finished, with failed units).

    `against` are the outputs of finished runs, whose documents count and come first where duplicates are looked for.
    `sample`, above 0 and at most 1, is the share of the input that is read, for thresholds to be chosen on; every score
    of it is measured and every image fetched. `open_engine` makes the engine; the local one with `workers` processes,
    where it is None. Raises UserError for what a person can mend, Stopped where the same command goes on later.
    """
    if sample is not None and not 0 < sample <= 1:
        raise UserError(f"--sample {sample}: must be a share of the input, above 0 and at most 1, e.g. 0.01")
    checked = load_config(config, overrides)
    notices = _check(checked, stages)
    notices += _check_lists(checked)
    sources = resolve_inputs(inputs, checked.reading)
    options = checked.reading.storage_options
    folder = RunFolder(place(str(output), options))
    check_report(checked.image_safety.report, folder.path)
    if against and not checked.dedup.enabled:
        raise UserError("--against compares with another run, and dedup.enabled is false: leave one of the two out")
    earlier = read_corpora(against, checked.dedup, options)
    forgotten = listed(checked.forgotten, options, "forgotten:")
    forgotten += [where for corpus in earlier if stored(where := corpus.folder.path / FOLDER)]
    with _stop_on_signal(), folder.locked():
        refuse_unfinished(folder.path, *(corpus.folder.path for corpus in earlier))
        if not force:
            folder.refuse_other_input([s.name for s in sources.warcs] + [s.name for s in sources.pointers])
        changed = folder.claim(Path(config).name.removesuffix(".yaml"), checked, force, sample)
        events = EventLog(folder.events)
        events.write("run_started", config=config, inputs=list(inputs), workers=workers, changed=changed, sample=sample)
        try:
            with Display(Console()) as display:
                for line in notices:
                    display.say(line)
                for line in changed:
                    display.say(f"changed since the last run here: {line}; what it touches is redone")
                with (open_engine or partial(_local_engine, workers))(folder.path, checked) as engine:
                    if _will_score(checked, stages) and (changed or not folder.manifest.exists()):
                        display.say("score: the models are loaded once, to see that nothing is missing")
                        try_models(engine, checked.models)
                    job = Job(folder, checked, StageRunner(engine, events, display, stages), earlier, sample, forgotten)
                    code = _run(job, sources, stages, retry, display)
            events.write("run_done", exit_code=code)
            return code
        except OSError as error:
            if error.errno in DISK_FULL:
                raise Stopped(disk_full(error)) from None
            if error.errno in FORBIDDEN:
                raise UserError(
                    f"{error.filename}: {error.strerror}; make it writable or give another --output"
                ) from None
            if (why := access_lost(error)) is not None and not is_local(folder.path):
                raise Stopped(
                    f"{folder.path}: no access ({why}); see the credentials; then go on by the same command"
                ) from None
            raise
        finally:
            events.close()


def _local_engine(workers: int, folder: Place, config: RunConfig) -> LocalEngine:
    return LocalEngine(workers, scratch_of(folder), UNIT_SECONDS, PRELOAD, models=processes(config.models))


def _will_score(config: RunConfig, stages: Sequence[str]) -> bool:
    return "score" in stages and bool(model_columns(config.models))


def open_ray(
    address: str | None, workers: int | None, folder: Place, config: RunConfig
) -> AbstractContextManager[Engine]:
    """The engine of a Ray cluster; see `engines.on_ray`. Raises UserError where Ray is not installed."""
    from obelics_pipeline.engines.on_ray.engine import RayEngine

    if find_spec("ray") is None:
        raise UserError("the engine ray needs the extra: pip install 'obelics-pipeline[ray]'")
    return RayEngine(address, workers, folder, UNIT_SECONDS, config.ray, PRELOAD)


def _run(job: Job, sources: Inputs, stages: Sequence[str], retry: Sequence[str], display: Display) -> int:
    """The stages in order; those that are not named must be done already."""
    last = max(STAGES.index(stage) for stage in stages)
    extracted = job.extract(sources)
    if last >= STAGES.index("dedup"):
        documents = job.dedup(extracted)
    if last >= STAGES.index("site"):
        documents = job.site(extracted, documents)
    if last >= STAGES.index("consent"):
        documents = job.consent(documents, retry)
    if last >= STAGES.index("fetch"):
        answers = job.fetch(extracted, documents, retry)
    if last >= STAGES.index("dedup-images"):
        overused = job.dedup_images(documents, answers)
    if last >= STAGES.index("assemble"):
        documents = job.assemble(documents, answers, overused)
    if last >= STAGES.index("score"):
        documents = job.score(documents)
    if last >= STAGES.index("shard"):
        job.shard(documents)
        _validate(job, display)
    return _conclude(job, stages, display)


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
            display.say(f"validated: every shard was read back, and hashes, counts and alignment hold{left_out}")


def _conclude(job: Job, stages: Sequence[str], display: Display) -> int:
    lost = job.lost()
    for line in lost:
        display.say(f"not conserved: {line}; this is a bug")
    if job.runner.failures:
        display.say(
            f"{len(job.runner.failures)} units failed (see {job.folder.events}); run the same command to try them again"
        )
        return 1
    if lost:
        return 1
    if job.runner.fresh == 0:
        display.say(f"nothing to do: {job.folder.path} is complete")
    elif "shard" in stages:
        display.say(job.summary())
    return 0


def _check(config: RunConfig, stages: Sequence[str]) -> list[str]:
    """Refuse what can be known to be missing before any work is done; returns what a person should know."""
    measurer = Measurer(config.filters, config.language)  # raises UserError for unknown filters and missing models
    if config.fetch.enabled and "fetch" in stages and find_spec("img2dataset") is None:
        raise UserError(
            "fetching images needs the extra: pip install 'obelics-pipeline[images]'; or run without: "
            "--set fetch.enabled=false"
        )
    build_rules(config.finish.paragraph, "paragraph")
    require_score(config)
    if config.image_safety.faces is not None:
        hook(config.image_safety.faces, "image_safety.faces")
    site_columns = config.site.columns if config.site.active else ()
    check_bounds(config.models, [*score_names(config), *site_columns])
    if _will_score(config, stages):
        models_identity(config.models)
    safety_of(config.model_dump_json())  # raises UserError; what every worker needs is built and fetched here, once
    return measurer.notices() + safety_notices(config) + _check_consent(config, stages)


def _check_consent(config: RunConfig, stages: Sequence[str]) -> list[str]:
    consent = config.consent
    if consent.service is not None and "consent" in stages:
        Service(consent.service)  # raises UserError for an address that is none and a key that is missing
    hashes = [name for name, entry in consent.lists_of("images").items() if entry.kind == "hashes"]
    if hashes and config.fetch.reencode != "never":
        return [f"consent.lists.{n}: hashes are compared with what fetch.reencode makes of images" for n in hashes]
    return []


def _check_lists(config: RunConfig) -> list[str]:
    """Make hash lists ready, and say of each what it held; nothing where that was done before."""
    if not config.fetch.enabled:
        return []
    prepared = prepare(config.image_safety.known_abuse)
    told = zip(config.image_safety.known_abuse.lists, () if prepared is None else prepared.counts, strict=False)
    return [
        f"hash list {Path(of.path).name}: {counts.hashes:,} hashes"
        + (f"; {counts.bad:,} lines hold none and were passed over" if counts.bad else "")
        for of, counts in told
    ]


@contextmanager
def _stop_on_signal() -> Iterator[None]:
    """SIGTERM stops a run as Ctrl-C does: what is committed stays, the rest is done by the next run."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped("stopped; run the same command again to go on")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
