"""The pages of WARC files for a person's own loop: without a run, in one process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.config.run import RunConfig, load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.ranges import ReadTask, plan_ranges
from obelics_pipeline.stages.read.records import read_task


def read_warc(
    path: str | Path, config: RunConfig | None = None, on_skip: Callable[[Skipped], object] | None = None
) -> Iterator[Page]:
    """The HTML pages of a WARC file, in the file's order, decoded to text; one is held in memory at a time.

    `path` is all that `obelics run --input` takes: a path, a glob, an https:// or s3:// URL, a table of pointers. A
    page has `url`, `html`, `warc_date` and the place of its record. `config` says how to read, and whether a `noai`
    header is obeyed; None: the bundled `default`. Records that are no page (requests, redirects, images, damaged
    pieces) are left out; `on_skip` is called with each of them, and its `reason` says why.

    Raises `UserError`, in one line and at once, where the file cannot be found, and later where it cannot be read.

    >>> import obelics_pipeline as op
    >>> from obelics_pipeline.demo.pack import pack
    >>> first_file, _ = pack(folder)
    >>> skipped = []
    >>> pages = list(op.read_warc(first_file, on_skip=skipped.append))
    >>> pages[0].url, pages[0].charset
    ('http://askthebench.example/questions/drawer-sticks-in-summer.html', 'utf-8')
    >>> len(pages), sorted({record.reason for record in skipped})[:3]
    (87, ['damaged_member', 'empty_body', 'http_301'])
    """
    reading = (config or load_config("default")).reading
    tasks = plan_ranges(resolve_inputs([os.fspath(path)], reading), reading)
    return _pages(tasks, reading, on_skip)


def _pages(tasks: list[ReadTask], config: ReadingConfig, on_skip: Callable[[Skipped], object] | None) -> Iterator[Page]:
    for task in tasks:
        try:
            for item in read_task(task, config):
                if isinstance(item, Page):
                    yield item
                elif on_skip is not None:
                    on_skip(item)
        except OSError as error:
            raise UserError(f"{task.path}: cannot be read: {error.strerror or error}") from None
