"""What the sources of a run hold of the URLs of a unit, and taking it: judged as fetched images are."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import Location, location, open_parquet, read_bytes_at
from obelics_pipeline.core.unit import digest
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.journal import Journal
from obelics_pipeline.stages.fetch.reason import is_dropped
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.fetch.sources.found import TAR, Options
from obelics_pipeline.stages.fetch.sources.held_image import INDEX, HeldImage
from obelics_pipeline.stages.fetch.sources.read import files_by_key, image_column

# Why an image that a source holds is not taken; beside these, the reasons of an image that cannot be decoded.
RESIZED = "resized"  # it has another size than what came from the host
NOT_ORIGINAL = "not_original"  # its bytes are not those that came, or nobody noted their hash
WRONG_SHA256 = "wrong_sha256"  # nothing was encoded again, and its bytes are others than noted
UNREADABLE = "unreadable"  # the file is gone, or ends before

TAKEN = "taken"  # note of a fetch unit: see `told_of`

NOTHING: bytes | str = UNREADABLE
AT_A_TIME = 8  # images that are asked for together: as many are held
ROWS = 8  # of a table that are decoded together

_COLUMNS = [name for name in INDEX.names if name != "bucket"]


@dataclass(frozen=True)
class Sources:
    """The sources of a run: the index by bucket, and how to open the files that it names."""

    index: Partitions
    paths: Mapping[str, str]  # of a file, by its name
    options: Options
    accept: str  # `fetch.source_images`

    @property
    def identity(self) -> str:
        """Of all that they may give."""
        return digest(dict(self.index.digests), self.accept)

    def of_bucket(self, bucket: str) -> dict[str, Any]:
        """For a unit's values: what they may give to a bucket; empty where that is nothing."""
        names = self.index.names(bucket)
        return {"offered": digest(self.index.digest(bucket), self.accept), "files": names} if names else {}

    def held(self, names: Sequence[str], urls: Sequence[str]) -> HeldImages:
        """What they hold of some URLs, as the files of the index of their bucket say."""
        spelled: dict[str, list[str]] = defaultdict(list)
        for url in urls:
            try:
                spelled[parse_target(url).url].append(url)
            except FetchError:
                continue
        wanted, by_url = pa.array(spelled, pa.string()), defaultdict[str, list[HeldImage]](list)
        for name in names:
            with open_parquet(self.index.folder / name) as table:
                for batch in table.iter_batches(columns=_COLUMNS):
                    for row in batch.filter(pc.is_in(batch["url"], wanted)).to_pylist():
                        for url in spelled[row["url"]]:
                            by_url[url].append(HeldImage(**row))
        return HeldImages(by_url, self)


@dataclass(frozen=True)
class HeldImages:
    """The images that sources hold of the URLs of a unit, by URL, the first choice first."""

    by_url: Mapping[str, Sequence[HeldImage]]
    sources: Sources

    def stands(self, result: FetchResult) -> bool:
        """Whether the result of an earlier unit still holds: its source is here as it was; or it was fetched, and if
        that failed, no source has the image.
        """
        held = self.by_url.get(result.url, ())
        if result.source is None:
            return result.status != "failed" or not held
        return any(i.source == result.source and self._refused(i) is None for i in held)

    def take(
        self,
        urls: Sequence[str],
        config: FetchingConfig,
        ingest: Ingest,
        notes: Journal,
        time_left: Callable[[], float],
    ) -> dict[str, FetchResult]:
        """The results of those URLs whose image was taken, or was dropped by a rule that looks at images.

        What is refused as another image than the host's, or as damaged, is noted, and is to be fetched. So is what
        was forgotten: it is not read here. No image is judged once no time is left.
        """
        results: dict[str, FetchResult] = {}
        forgotten = ingest.forgotten
        waiting = {url: list(self.by_url[url]) for url in urls if self.by_url.get(url)}
        if forgotten is not None:
            waiting = {url: held for url, held in waiting.items() if not forgotten.url(url)}
        while waiting:
            first = [(held.pop(0), url) for url, held in waiting.items()]
            for image, url, content in self._contents(first, config.max_bytes):
                if not time_left():
                    return results
                try:
                    results[url] = self._judged(image, url, content, ingest)
                    notes.add(results[url])
                except FetchError as refused:
                    notes.refuse(url, image.source, refused.reason)
            waiting = {url: held for url, held in waiting.items() if held and url not in results}
        return results

    def _judged(self, image: HeldImage, url: str, content: bytes | str, ingest: Ingest) -> FetchResult:
        """Raises FetchError where the host is to be asked."""
        try:
            if isinstance(content, str):
                raise FetchError(content)
            self._compare(image, content)
            return replace(ingest.keep(content, [url], image.source), url=url, source=image.source)
        except FetchError as error:
            if not is_dropped(error.reason):
                raise FetchError(error.reason) from None
            return replace(FetchResult.without_image(url, error.reason), source=image.source)

    def _refused(self, image: HeldImage) -> str | None:
        accept = self.sources.accept
        if accept != "any" and image.is_resized:
            return RESIZED
        return NOT_ORIGINAL if accept == "original" and image.sha256 is None else None

    def _compare(self, image: HeldImage, content: bytes) -> None:
        if image.sha256 is None or image.sha256 == hashlib.sha256(content).hexdigest():
            return
        if not image.is_encoded:
            raise FetchError(WRONG_SHA256)
        if self.sources.accept == "original":
            raise FetchError(NOT_ORIGINAL)

    def _contents(
        self, wanted: Sequence[tuple[HeldImage, str]], most: int
    ) -> Iterator[tuple[HeldImage, str, bytes | str]]:
        """Images with their bytes, or with the reason why they are not taken; file by file."""
        readable = []
        for image, url in sorted(wanted, key=lambda pair: (pair[0].file, pair[0].at, pair[1])):
            refused = self._refused(image)
            if refused is None and (image.n_bytes or 0) > most:
                refused = "too_large"
            if refused is None:
                readable.append((image, url))
            else:
                yield image, url, refused
        for file, of_file in groupby(readable, key=lambda pair: pair[0].file):
            pairs = list(of_file)
            for (image, url), content in zip(pairs, self._of_file(file, [i for i, _ in pairs]), strict=True):
                yield image, url, "too_large" if len(content) > most else content

    def _of_file(self, file: str, images: Sequence[HeldImage]) -> Iterator[bytes | str]:
        where = location(self.sources.paths[file], self.sources.options)
        if file.endswith(TAR):
            yield from _together(partial(_of_tar, where), images)
            return
        try:
            with open_parquet(where) as table:
                column = image_column(table.schema_arrow)
        except (OSError, pa.ArrowException) as error:
            _raise_of_store(where, error)
            yield from (UNREADABLE for _ in images)
            return
        if column is not None:
            yield from _of_table(where, column, images)
        else:
            folder = where.parent / where.stem
            yield from _together(partial(_of_folder, folder, files_by_key(folder)), images)


def told_of(
    results: Sequence[FetchResult], refused: Sequence[Mapping[str, str]], before: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Counts for the manifest of a unit: images of sources that were taken, dropped and refused, each once.

    What is refused is counted once its URL has a result: until then each round refuses it. `before` are the counts of
    the unit's rounds, which know what was refused there.
    """
    taken, known = [result for result in results if result.source is not None], {result.url for result in results}
    reasons = {(row["refused"], row["from"]): row["reason"] for row in refused if row["refused"] in known}
    counts = Counter(reasons.values())
    for told in before:
        counts.update(told["refused"])
    return {
        "kept": sum(result.status == "ok" for result in taken),
        "dropped": dict(sorted(Counter(str(r.reason) for r in taken if r.status != "ok").items())),
        "refused": dict(sorted(counts.items())),
    }


def _together(read: Any, images: Sequence[HeldImage]) -> Iterator[bytes | str]:
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        for start in range(0, len(images), AT_A_TIME):
            yield from threads.map(read, images[start : start + AT_A_TIME])


def _of_tar(where: Location, image: HeldImage) -> bytes | str:
    assert image.n_bytes is not None, "of a tar"
    try:
        content = read_bytes_at(where, image.at, image.n_bytes)
    except OSError as error:
        _raise_of_store(where, error)
        return UNREADABLE
    return content if len(content) == image.n_bytes else UNREADABLE


def _of_folder(folder: Location, files: Mapping[str, str], image: HeldImage) -> bytes | str:
    where = folder / files.get(image.key, "")
    try:
        if image.key not in files or (isinstance(where, Path) and where.is_symlink()):
            return UNREADABLE
        return where.read_bytes()
    except OSError as error:
        _raise_of_store(where, error)
        return UNREADABLE


def _of_table(where: Location, column: str, images: Sequence[HeldImage]) -> Iterator[bytes | str]:
    """`images` are sorted by their rows; two spellings of a URL have one row."""
    rows = _rows_of_table(where, column, sorted({image.at for image in images}))
    at, content = -1, NOTHING
    for image in images:
        if image.at != at:
            at, content = image.at, next(rows)
        yield content


def _rows_of_table(where: Location, column: str, wanted: Sequence[int]) -> Iterator[bytes | str]:
    """The images of rows, sorted; of a group of rows, img2dataset writes a hundred, a few are held at a time."""
    told, first = 0, 0
    with open_parquet(where) as table:
        for group in range(table.num_row_groups):
            after = first + table.metadata.row_group(group).num_rows
            here = wanted[told : bisect_left(wanted, after)]
            if here:
                yield from _rows_of_group(table, group, column, [at - first for at in here], where)
            told, first = told + len(here), after
    yield from (UNREADABLE for _ in wanted[told:])


def _rows_of_group(
    table: pq.ParquetFile, group: int, column: str, wanted: Sequence[int], where: Location
) -> Iterator[bytes | str]:
    told, first = 0, 0
    try:
        for batch in table.iter_batches(ROWS, row_groups=[group], columns=[column]):
            while told < len(wanted) and wanted[told] < first + len(batch):
                content = batch[column][wanted[told] - first].as_py()
                told += 1
                yield UNREADABLE if content is None else content
            first += len(batch)
    except (OSError, pa.ArrowException) as error:
        _raise_of_store(where, error)
    yield from (UNREADABLE for _ in wanted[told:])


def _raise_of_store(where: Location, error: Exception) -> None:
    """What a store does not answer may pass: the unit is tried again."""
    if not isinstance(where, Path) and not isinstance(error, FileNotFoundError | pa.ArrowException):
        raise error
