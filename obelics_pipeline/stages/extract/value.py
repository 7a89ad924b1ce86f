"""The stage `extract`: WARC ranges to documents."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from obelics_pipeline.core.commit import Manifest, manifest_path, names_by_label, sweep, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.filtering import LanguageBounds
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.core.storage import remove
from obelics_pipeline.core.unit import Unit, label_of_unit
from obelics_pipeline.policy.blocklists.lists import read_lists
from obelics_pipeline.policy.personal_data.counts import total
from obelics_pipeline.stages.bounded import Bounded, bounded
from obelics_pipeline.stages.cost import Ahead, Amounts, Cost
from obelics_pipeline.stages.extract.measure import LANGUAGE_SCORE, Measurer, score_names
from obelics_pipeline.stages.extract.reasons import REASONS
from obelics_pipeline.stages.extract.safety import notices, safety_of
from obelics_pipeline.stages.extract.stage import STAGE, extract_unit, extract_units, incomplete_file
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.read.inputs import Inputs
from obelics_pipeline.stages.read.ranges import ReadTask, label_of_source, plan_ranges, sampled
from obelics_pipeline.stages.read.robots import RobotsCaptures, captures_of
from obelics_pipeline.stages.stage import Stage

INPUT_PIECE = 8 * 2**20  # bytes of one request to a remote WARC (read/remote.py)


def check(config: RunConfig) -> list[str]:
    """Raises UserError for unknown filters and missing models and lists."""
    measurer = Measurer(config.filters, config.language)
    safety_of(config.model_dump_json())  # what every worker needs is built and fetched here, once
    return [*measurer.notices(), *notices(config)]


def bounds(config: RunConfig) -> list[Bounded]:
    """How sure the language must be, and the filters of documents."""
    certain = LanguageBounds(min=config.language.min_score or None)
    filters = bounded("filters.document", config.filters.document)
    return [Bounded(LANGUAGE_SCORE, "language.min_score", certain), *filters]


def work(job: Job) -> None:
    """Read the run's input, extract its pages and measure their documents."""
    sources, config = job.shared(Inputs, _no_input), job.config
    tasks = plan_ranges(sources, config.reading)
    job.row_files = {source.name: source.path for source in sources.rows}
    _forget_changed(job, sources, tasks)
    if job.sample is not None:
        every, tasks = tasks, sampled(tasks, job.sample)
        job.notes["sample_units"] = {"read": len(tasks), "of": len(every)}
        job.runner.say(f"sample: {len(tasks):,} of {len(every):,} units of the input are read")
    for line in job.opt_outs.lines():
        job.runner.say(line)
    robots = robots_of(job)
    earlier, elsewhere = names_by_label(job.folder.extract), job.forgotten_elsewhere
    units = extract_units(tasks, config, job.sample is not None, job.opt_outs, robots, elsewhere, earlier)
    do = functools.partial(
        extract_unit,
        folder=job.folder.extract,
        config=config,
        opt_outs=job.opt_outs,
        robots=robots,
        forgotten=job.forgotten,
    )
    manifests = job.runner.map(STAGE, do, units, job.folder.extract)
    _report_incomplete_files(job, units, manifests)
    job.ledgers = dict(job.runner.ledgers[STAGE])
    lists = read_lists(config.blocklists, config.fetch) | job.opt_outs.read_lists()
    if lists:
        job.notes["lists"] = lists
    if config.personal_data.enabled:
        job.notes["personal_data"] = total(m.notes["personal_data"] for m in manifests)
    sweep(job.folder.extract, manifests)
    job.extracted, job.documents = manifests, Documents(manifests, job.folder.extract)


def reading(ahead: Ahead) -> Amounts:
    """The input itself, which lies in no folder that a sample meters."""
    size = Interval.exactly(ahead.input_bytes)
    asked = size * (1 / INPUT_PIECE) + Interval.exactly(ahead.units)
    return {"read": size} | ({"gets": asked, "wall": asked * ahead.wait} if ahead.remote_input else {})


def robots_of(job: Job) -> RobotsCaptures | None:
    """The captures of robots.txt that the config names. Raises UserError where they cannot be read."""
    return captures_of(job.config.consent.crawl, job.config.reading, job.folder.robots_captures)


def _no_input() -> Inputs:
    raise UserError("extract: the run was given no input")


def _report_incomplete_files(job: Job, units: Sequence[Unit], manifests: Sequence[Manifest]) -> None:
    """Report input files that end early as failures, in each run until they are replaced. What was read is kept."""
    unit_of = {unit.name: unit for unit in units}
    for manifest in manifests:
        wrong = incomplete_file(unit_of[manifest.unit], manifest)
        if wrong is not None:
            job.runner.fail(STAGE, manifest.unit, wrong)


def _forget_changed(job: Job, sources: Inputs, tasks: Sequence[ReadTask]) -> None:
    """A file that was replaced under its old name is read again, though its units have their old ids.

    They go before the new state is noted: a run that is killed between the two finds them stale once more. So do
    those of a file that is not named any more, which may come back replaced.
    """
    changed = job.folder.changed_inputs(sources.versions)
    fresh = {label_of_source(task.label) for task in tasks if task.name not in changed}
    folder = job.folder.extract
    names = unit_names(folder)
    stale = [name for name in names if label_of_source(label_of_unit(name)) not in fresh]
    known = {label_of_unit(name) for name in names} - {label_of_unit(name) for name in stale}
    if stale or job.folder.differing_inputs(sources.versions):
        job.runner.begin(STAGE, sum(task.label not in known for task in tasks), len(tasks))
    remove(manifest_path(folder, name) for name in stale)
    job.folder.note_inputs(sources.versions)


EXTRACT = Stage(
    name=STAGE,
    title="Each page by itself: language, text rules",
    label="extracted",
    work=work,
    check=check,
    documents="extract",
    ledgers={STAGE: ("records", "documents")},
    columns=score_names,
    bounds=bounds,
    reasons=REASONS,
    cost=Cost(beyond=reading),
)
