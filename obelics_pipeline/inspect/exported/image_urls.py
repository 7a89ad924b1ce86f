"""What the kept documents of a run ask for, as img2dataset's input: Parquet with a column `url`, dealt out by host."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import committed, unit_names
from obelics_pipeline.core.config.sharding import ImageRulesConfig
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.core.storage import Location, names_in, put, remove
from obelics_pipeline.engines.groups import DATA
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.inspect.report.opened import Run, read_run
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target
from obelics_pipeline.policy.opt_outs.lists import OptOuts, prepare
from obelics_pipeline.policy.tombstones.obeyed import tombstones_of
from obelics_pipeline.policy.tombstones.tombstones import Tombstones
from obelics_pipeline.stages.fetch.host import host_bucket
from obelics_pipeline.stages.fetch.image_rules import url_reason
from obelics_pipeline.stages.fetch.requests import kept_images

BUCKET, URL = "bucket", "url"
DEALT = pa.schema([(BUCKET, pa.int32()), (URL, pa.string())])
UNIT_SECONDS = 3600.0  # a unit that takes longer is tried again
_FILE = re.compile(r"urls-\d{5,}\.parquet")


@dataclass(frozen=True)
class ExportedUrls:
    """What was written; `left_out` counts what a unit of documents asks for and no host may be asked, by reason."""

    output: Location
    files: int
    urls: int
    left_out: Counter[str]

    def lines(self) -> Iterator[str]:
        """For a person."""
        yield f"wrote {counted(self.urls, 'URLs')} in {counted(self.files, 'files')} to {self.output}"
        if self.left_out:
            why = ", ".join(f"{reason} {n:,}" for reason, n in sorted(self.left_out.items()))
            yield f"left out, counted by unit of documents: {why}"


def export_urls(path: str, output: Location, workers: int | None = None) -> ExportedUrls:
    """Write the image URLs that the documents of a finished run ask for, each once, sorted, a file per bucket of hosts.

    These are the documents that come to the stage fetch, whether the run fetched or not. What the config's rules, an
    opt-out list or `obelics forget` refuse by its URL is left out, as are URLs that are not of the web. Equal runs give
    equal bytes. Raises UserError where no finished run is, and for an output folder that holds other Parquet files.
    """
    run = read_run(path)
    if run.manifest is None:
        raise UserError(f"{path}: the run there has not finished; run its command again to finish it")
    there = [name for name in names_in(output) if name.endswith(".parquet")]
    if strangers := [name for name in there if not _FILE.fullmatch(name)]:
        raise UserError(f"--output {output}: holds another Parquet file, {strangers[0]}; give an empty or new folder")
    folder = _documents(run)
    lists = prepare(run.config.consent.lists, run.folder.opt_out_lists, run.config.reading.storage_options)
    judge = _Judge(run.config.images, lists, tombstones_of(run.folder.path))
    with TemporaryDirectory() as name, LocalEngine(workers or os.cpu_count() or 1, Path(name), UNIT_SECONDS) as engine:
        scratch = Path(name)
        deal = partial(_deal, folder=folder, judge=judge, buckets=run.config.fetch.buckets, output=scratch / "asked")
        left_out = sum(engine.map(deal, unit_names(folder)), Counter[str]())
        asked = sorted((scratch / "asked").glob("*.parquet"))
        groups = engine.shuffle(asked, BUCKET, _distinct, scratch / "dealt") if asked else {}
        pieces = {f"urls-{int(bucket):05d}.parquet": group.pieces[DATA] for bucket, group in groups.items()}
        for file, piece in pieces.items():
            put(scratch / "dealt" / piece.name, output / file)
    remove(output / file for file in there if file not in pieces)
    return ExportedUrls(output, len(pieces), sum(piece.rows for piece in pieces.values()), left_out)


def _documents(run: Run) -> Location:
    """The folder of the documents as they are before they meet their images."""
    before = takewhile(lambda stage: not stage.with_images, stages_in(run.folder))
    folders = [stage.folder(run.folder.path) for stage in before if stage.documents and stage.active(run.config)]
    return folders[-1]


@dataclass(frozen=True)
class _Judge:
    """Which URLs may be asked for."""

    rules: ImageRulesConfig
    lists: OptOuts
    forgotten: Tombstones | None

    def reason(self, url: str) -> str | None:
        """Why not, or None."""
        try:
            parse_target(url)
        except FetchError as error:
            return error.reason
        if self.forgotten is not None and self.forgotten.url(url):
            return "forgotten"
        return self.lists.image_reason(url) or url_reason(url, self.rules)


def _deal(unit: str, *, folder: Location, judge: _Judge, buckets: int, output: Path) -> Counter[str]:
    """Write what one unit of documents asks for; returns what was left out."""
    left_out, urls = Counter[str](), list[str]()
    for url in sorted(set(kept_images(committed(folder, unit).path(folder, "data")))):
        reason = judge.reason(url)
        if reason is None:
            urls.append(url)
        else:
            left_out[reason] += 1
    if urls:
        output.mkdir(parents=True, exist_ok=True)
        table = pa.table([[host_bucket(url, buckets) for url in urls], urls], schema=DEALT)
        pq.write_table(table, output / f"{unit}.parquet")
    return left_out


def _distinct(rows: pa.Table, _bucket: str) -> ReduceOutput:
    """The URLs of a bucket, sorted, each once."""
    urls = pc.unique(rows[URL])
    return ReduceOutput({DATA: pa.table({URL: urls})})
