"""From what a person names as input to a sorted list of WARC files and pointer tables, or of files of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.listing import InputFile, expand
from obelics_pipeline.stages.read.missing import together
from obelics_pipeline.stages.read.opening import file_facts
from obelics_pipeline.stages.read.pointer_table import count_rows
from obelics_pipeline.stages.rows.inputs import count_rows as count_documents
from obelics_pipeline.stages.rows.layouts.layout import LAYOUTS

WARC_SUFFIXES = (".warc", ".warc.gz", ".warc.zst")
VALID = "valid are *.warc.gz, *.warc, *.warc.zst, *.parquet (pointers), *.txt (a list), warc.paths and warc.paths.gz"
LOOKUPS = 16  # files whose size is asked for at the same time


@dataclass(frozen=True)
class WarcSource:
    """A WARC file: where it is, its name in documents, its size in bytes, and a mark of its state.

    `name` is the key of a Common Crawl file, the path of a URL without host or bucket, the path of a local file
    below the fixed part of the pattern. `version` is only compared: it differs when the file changed.
    """

    path: str
    name: str
    size: int
    version: str


@dataclass(frozen=True)
class PointerSource:
    """A Parquet table of (url, warc_filename, warc_record_offset, warc_record_length) with `rows` rows."""

    path: str
    name: str
    size: int
    version: str
    rows: int


@dataclass(frozen=True)
class RowsSource:
    """A file of documents in a layout; `rows` is missing where only a reader of the whole file can count them."""

    path: str
    name: str
    size: int
    version: str
    rows: int | None


@dataclass(frozen=True)
class Inputs:
    """All input of a run, each part sorted by name: pages, or rows of documents."""

    warcs: list[WarcSource]
    pointers: list[PointerSource]
    rows: list[RowsSource] = field(default_factory=list)

    def is_empty(self) -> bool:
        """Whether nothing is named but tables without a row. A WARC file without a byte is a fault, so it counts."""
        return not self.warcs and not any(table.rows for table in self.pointers) and all(f.rows == 0 for f in self.rows)

    @property
    def versions(self) -> dict[str, str]:
        """The mark of each file's state, by its name."""
        sources: list[WarcSource | PointerSource | RowsSource] = [*self.warcs, *self.pointers, *self.rows]
        return {source.name: source.version for source in sources}


def resolve_inputs(patterns: Sequence[str], config: ReadingConfig) -> Inputs:
    """Find every file that the patterns name.

    A pattern is a path, a glob, an fsspec URL, a list of those (.txt), a Common Crawl warc.paths(.gz), or a Parquet
    table of pointers; with another layout than pages, a file of documents. Raises UserError, in one line, where some
    name nothing or one something else.
    """
    layout = LAYOUTS.get(config.layout)
    endings = (*WARC_SUFFIXES, ".parquet") if layout is None else tuple(layout.suffixes)
    valid = VALID if layout is None else f"valid with reading.layout {config.layout} are *{', *'.join(endings)}"
    if not patterns:
        raise UserError(f"no input given: use --input; {valid}")
    found = _distinct(together(expand(pattern, config) for pattern in patterns))
    for item in found:
        if not item.name.lower().endswith(endings):
            raise UserError(f"{item.path}: unknown kind of input; {valid}")
    facts = _facts(found, config)
    inputs = Inputs([], [])
    for item, (size, version) in zip(found, facts, strict=True):
        if layout is not None:
            documents = count_documents(item.path, config.layout, config.storage_options)
            inputs.rows.append(RowsSource(item.path, item.name, size, version, documents))
        elif item.name.lower().endswith(".parquet"):
            rows = count_rows(item.path, config)
            inputs.pointers.append(PointerSource(item.path, item.name, size, version, rows))
        else:
            inputs.warcs.append(WarcSource(item.path, item.name, size, version))
    return inputs


def _facts(found: Sequence[InputFile], config: ReadingConfig) -> list[tuple[int, str]]:
    """Size and state of each file, looked up many at a time. Raises UserError."""

    def result(future: Future[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        yield future.result()

    threads = ThreadPoolExecutor(LOOKUPS)
    try:
        return list(together([result(threads.submit(file_facts, item.path, config)) for item in found]))
    finally:
        threads.shutdown(cancel_futures=True)


def _distinct(found: Iterable[InputFile]) -> list[InputFile]:
    """Sorted by name, each file once. Raises UserError for two files of one name: documents could not tell them."""
    by_name: dict[str, InputFile] = {}
    for item in found:
        other = by_name.setdefault(item.name, item)
        if other.identity != item.identity:
            raise UserError(
                f"two inputs are both named {item.name}: {other.path} and {item.path}; "
                "documents are identified by that name, so rename one, or give one glob above both (dir/**/*.warc.gz)"
            )
    return sorted({item.identity: item for item in reversed(by_name.values())}.values(), key=lambda item: item.name)
