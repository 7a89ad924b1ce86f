"""An image folder of a user as a source of images by URL. Its kind is recognised by its files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.config.run import load_config
from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.core.errors import Damaged, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import TEMPORARY, read_table
from obelics_pipeline.jobs.score_rows.fetched_images import name_of
from obelics_pipeline.models.pictures.sources import FolderImages, ImageSource
from obelics_pipeline.stages.fetch.removed_packs import removed_packs
from obelics_pipeline.stages.fetch.result import FetchResult, results_from_table
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.fetch.stage import earlier_results

VALID = "files named by the sha256 of their URL, OUTPUT.images of an earlier command, RUN/images, img2dataset's files"

_NAME = re.compile(r"[0-9a-f]{64}")
_LOOKED_AT = 10_000  # entries of a folder before it is said to hold no image
_BESIDE = (".json", ".txt")  # what img2dataset writes beside an image


@contextmanager
def images_of(folder: Path, beside: Path) -> Iterator[ImageSource]:
    """The images of a folder, by URL. Those with other names get links, and those of a run notes of where each is, in a
    folder below `beside` for that time.

    Raises UserError for a folder that is not of a kind in `VALID`.
    """
    folder = folder.absolute()
    if not folder.is_dir():
        raise UserError(f"--images {folder}: no such folder; valid are fetch, none and a folder")
    of_run, shards = _is_of_run(folder), _shards(folder)
    if not of_run and not shards:
        if not _is_by_url(folder):
            tars = " (of img2dataset, output_format=files alone is read)" if any(folder.glob("*.tar")) else ""
            raise UserError(f"--images {folder}: holds no images by URL{tars}; valid are {VALID}")
        yield FolderImages(folder)
        return
    beside.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=beside.absolute(), prefix=TEMPORARY) as name:
        here = Path(name)
        if of_run:
            for result in _results(folder):
                _note(here / name_of(result.url), result)
            yield ImagesOfRun(folder, here)
            return
        for url, file in _of_img2dataset(folder):
            link = here / name_of(url)
            link.unlink(missing_ok=True)
            link.symlink_to(file)
        yield FolderImages(here)


@dataclass(frozen=True)
class ImagesOfRun:
    """Images of the folder `images` of a run; `folder` has a file for each URL, which says where its image is."""

    images: Path
    folder: Path

    def __call__(self, image: ImageNode, /) -> bytes | None:
        """None where the run has none for this URL. Raises UserError for one that is damaged, or gone."""
        try:
            noted = json.loads((self.folder / name_of(image.src)).read_bytes())
        except FileNotFoundError:
            return None
        try:
            return RunImages(self.images).read(FetchResult(image.src, "ok", **noted))
        except Damaged as damaged:
            lost = damaged.locations[0]
            if (removed := removed_packs(RunFolder(self.images.parent))) is not None:
                raise UserError(f"--images {self.images}: {removed.line()}; valid are {VALID}") from None
            raise UserError(f"{lost}: damaged, or gone; the command of that run fetches its images again") from None


def _note(path: Path, result: FetchResult) -> None:
    path.unlink(missing_ok=True)
    if result.sha256 is not None:
        path.write_text(json.dumps({name: getattr(result, name) for name in ("sha256", "n_bytes", "pack", "offset")}))


def _is_by_url(folder: Path) -> bool:
    if (folder / "results").is_dir():  # of `fetched_images`, maybe without a single image
        return True
    with os.scandir(folder) as entries:
        return any(_NAME.fullmatch(entry.name) for entry in islice(entries, _LOOKED_AT))


def _is_of_run(folder: Path) -> bool:
    run = folder.parent
    return folder.name == "images" and (run / "config.yaml").is_file() and (run / "fetch" / "manifests").is_dir()


def _results(folder: Path) -> Iterator[FetchResult]:
    """The result of each URL in the fetch of a run with its config. The last result of a URL comes last."""
    config = load_config(str(folder.parent / "config.yaml")).fetch
    for bucket in range(config.buckets):
        for _, table in earlier_results(folder.parent / "fetch", bucket, config):
            yield from results_from_table(read_table(table))


def _shards(folder: Path) -> list[Path]:
    """The tables of img2dataset's shards that are folders of files."""
    return sorted(table for table in folder.glob("*.parquet") if table.with_suffix("").is_dir())


def _of_img2dataset(folder: Path) -> Iterator[tuple[str, Path]]:
    """The image of each URL. A table maps rows to URLs, but does not give the file's suffix."""
    for table in _shards(folder):
        with os.scandir(table.with_suffix("")) as entries:
            files = {Path(e.name).stem: Path(e.path) for e in entries if not e.name.endswith(_BESIDE)}
        try:
            rows = pq.read_table(table, columns=["url", "key", "status"]).to_pylist()
        except (OSError, pa.ArrowException) as error:
            said = str(error).splitlines()[0][:200]
            raise UserError(f"--images {folder}: {table.name} is no table of img2dataset ({said})") from None
        for row in rows:
            if row["status"] == "success" and row["url"] is not None and row["key"] in files:
                yield row["url"], files[row["key"]]
