"""`obelics explain`: finds a record, tells its life, and writes the page that shows it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, local_copy, write_bytes
from obelics_pipeline.core.storage import location as location_of
from obelics_pipeline.inspect.explain.explanation import Explanation, explanation_of
from obelics_pipeline.inspect.explain.in_run import fates_of, find_in_run, noted_inputs
from obelics_pipeline.inspect.explain.record import find_warc, is_warc, page_in_file, pointed_at, record_at, record_of
from obelics_pipeline.inspect.explain.side_by_side import side_by_side
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.policy.opt_outs.lists import prepare
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.remote import is_remote
from obelics_pipeline.stages.read.robots import captures_of

DEFAULT_CONFIG = "default"  # of a file that is no run's


def explain(
    location: str,
    which: str | None,
    config: str | None = None,
    overrides: Sequence[str] = (),
    inputs: Sequence[str] = (),
) -> Explanation:
    """The explanation of one record.

    `location` is a run's folder and `which` a document id or a URL; or a WARC file and a URL or an offset, None for its
    only page; or a file with a page and its address. `config` is the run's own, or default, unless it is named;
    `inputs` say where a run's WARC files are now. Raises UserError.
    """
    if (folder := _folder(location)) is not None:
        if which is None:
            raise UserError(f"{location}: say which record: obelics explain {location} DOC, or a URL")
        run = RunFolder(folder)
        run.refuse_other_format()
        return _of_run(run, which, config, overrides, inputs)
    checked = load_config(config or DEFAULT_CONFIG, overrides)
    if is_warc(location):
        return _explanation(location, record_of(location, which, checked.reading), checked)
    if not Path(location).is_file():
        raise UserError(f"{location}: no such folder or file; give the folder of a run, a WARC file or an HTML file")
    return _explanation(location, page_in_file(Path(location), which, checked.reading), checked)


def _explanation(location: str, record: Page | Skipped, config: RunConfig) -> Explanation:
    """The explanation by the lists and the captures that the config names: made here, and gone again."""
    with tempfile.TemporaryDirectory(prefix="obelics-") as name:
        lists = prepare(config.consent.lists, Path(name), config.reading.storage_options)
        robots = captures_of(config.consent.crawl, config.reading, Path(name))
        return explanation_of(location, record, config, lists, robots)


def _folder(named: str) -> Location | None:
    """The folder of a run, where it is one that is named: behind a URL, what is neither a WARC nor a page."""
    if Path(named).is_dir():
        return Path(named)
    return location_of(named) if is_remote(named) and not is_warc(named) else None


def write_html(explanation: Explanation, path: Path) -> None:
    """Write the page that shows raw, simplified and final side by side. Raises UserError where it cannot be written."""
    try:
        write_bytes(path, side_by_side(explanation).encode())
    except OSError as error:
        raise UserError(f"--html {path}: cannot be written: {error.strerror}") from None


def _of_run(
    folder: RunFolder, which: str, config: str | None, overrides: Sequence[str], inputs: Sequence[str]
) -> Explanation:
    found = find_in_run(folder, which)
    with local_copy(folder.config) if config is None else nullcontext(config) as path:
        checked: RunConfig = load_config(str(path), overrides)
    if checked.reading.layout != "pages":
        raise UserError(
            f"{folder.path}: was made of rows ({checked.reading.layout}), in which there is no page to explain; "
            "obelics report counts what was done with them"
        )
    name, patterns = found.warc_filename, [*inputs, *noted_inputs(folder)]
    path = find_warc(name, patterns, checked.reading)
    if name.endswith(".parquet"):
        name = pointed_at(path, found.url, found.offset, checked.reading)
        path = find_warc(name, patterns, checked.reading)
    record = record_at(path, name, found.offset, found.url, checked.reading)
    explanation = _explanation(path, record, checked)
    fates = fates_of(folder, found.unit, [document.doc_id for document in explanation.documents])
    return replace(explanation, in_run=found, fates=fates, stages=stages_in(folder))
