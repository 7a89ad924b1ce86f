"""What the viewer of the Hugging Face hub needs of a published folder, and what the hub advises.

The figures are those of the viewer's own code (github.com/huggingface/dataset-viewer) and of the hub's pages
(huggingface.co/docs/hub/datasets-manual-configuration, huggingface.co/docs/hub/storage-limits).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from obelics_pipeline.core.storage import Location, names_in, open_parquet, read_bytes, size_of

# Of a page that is shown, and of the groups of rows that it reads: ROWS_INDEX_MAX_ARROW_DATA_IN_MEMORY in services/rows
# ("Scan size limit exceeded: … limit is 300000000 bytes"; an older text says "max=286.10 MiB").
ROWS_PER_PAGE = 100
SCAN_BYTES = 300_000_000
COLUMNS = 1_000  # FIRST_ROWS_COLUMNS_MAX_NUMBER in services/worker
# Of the first rows, ten of which are always shown, with cells cut to 100 bytes: FIRST_ROWS_MAX_BYTES,
# FIRST_ROWS_MIN_NUMBER and FIRST_ROWS_CELL_MIN_BYTES there. A picture's cell is not cut; it is a signed address.
FIRST_BYTES, FIRST_ROWS, CELL_BYTES = 1_000_000, 10, 100
PICTURE_CELL_BYTES = 1_000  # assumed: such addresses are of some 700 bytes
# Our own, below the viewer's: a group is read whole by loaders that know no page index.
GROUP_ROWS, GROUP_BYTES = 100, 100_000_000
FILE_BYTES = (300_000_000, 500_000_000)  # what the hub advises of Parquet files


@dataclass(frozen=True)
class Viewed:
    """Of one file: its name below the folder, its size in bytes, its columns, and each group's rows and bytes.

    `indexed` is whether all columns have a page index; `first_pictures` counts the pictures of the first ten rows.
    """

    name: str
    bytes: int
    columns: Sequence[str]
    groups: Sequence[tuple[int, int]]
    indexed: bool
    first_pictures: int = 0

    def page_bytes(self) -> int:
        """The most that one page of a hundred rows has the viewer read, which reads whole groups."""
        most = start = total = 0
        ends: list[int] = []
        for rows, _ in self.groups:
            total += rows
            ends.append(total)
        for first in range(0, total, ROWS_PER_PAGE):
            while ends[start] <= first:
                start += 1
            stop = start
            while stop < len(ends) and (ends[stop - 1] if stop else 0) < first + ROWS_PER_PAGE:
                stop += 1
            most = max(most, sum(size for _, size in self.groups[start:stop]))
        return most


def viewed(name: str, size: int, source: pq.ParquetFile) -> Viewed:
    """Read the footer of a file, and how many pictures its first rows have."""
    about = source.metadata
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    indexed = all(g.column(i).has_offset_index for g in groups for i in range(about.num_columns))
    sizes = [(group.num_rows, group.total_byte_size) for group in groups]
    return Viewed(name, size, source.schema_arrow.names, sizes, indexed, _pictures(source))


def _pictures(source: pq.ParquetFile) -> int:
    """Pictures in the first ten rows, by their names: their bytes are not read."""
    names = [name for name in source.schema_arrow.names if name == "images"]
    if not names or not source.metadata.num_rows:
        return 0
    first = next(source.iter_batches(FIRST_ROWS, columns=["images.list.element.path"], row_groups=[0]))
    return sum(len(pictures) for pictures in first.column(0).to_pylist() if pictures)


def refused(file: Viewed) -> Iterator[str]:
    """Why the viewer, or a loader within our limits, would not show a file; nothing for a good one."""
    for number, (rows, size) in enumerate(file.groups):
        where = f"{file.name}: group {number}"
        if rows > GROUP_ROWS:
            yield f"{where} has {rows:,} rows; at most {GROUP_ROWS}"
        if size > GROUP_BYTES and rows > 1:
            yield f"{where} has {size:,} bytes; at most {GROUP_BYTES:,}"
    if not file.indexed:
        yield f"{file.name}: a column has no page index, which the viewer needs to read less than whole groups"
    if len(file.columns) > COLUMNS:
        yield f"{file.name}: {len(file.columns):,} columns; the viewer shows at most {COLUMNS:,}"


def advised(file: Viewed) -> Iterator[str]:
    """What the documents themselves make the viewer not show: no layout of the file helps."""
    if (most := file.page_bytes()) > SCAN_BYTES:
        yield f"{file.name}: a page of {ROWS_PER_PAGE} rows has {most:,} bytes; the viewer shows at most {SCAN_BYTES:,}"
    first = file.first_pictures * PICTURE_CELL_BYTES + len(file.columns) * FIRST_ROWS * CELL_BYTES
    if first > FIRST_BYTES:
        yield (
            f"{file.name}: the first {FIRST_ROWS} rows have {file.first_pictures:,} pictures and {len(file.columns)} "
            f"columns, about {first:,} bytes; the viewer previews at most {FIRST_BYTES:,}"
        )


def unnamed(card: str, names: Iterable[str]) -> Iterator[str]:
    """Where the `configs` of a card's front matter do not give each data file to one split, by name.

    `names` are those of the Parquet files below the card's folder.
    """
    splits = dict(_splits(card))
    if not splits:
        yield "README.md: no `configs` in the front matter that names files by split"
        return
    data = sorted(names)
    for name in data:
        found = [split for split, patterns in splits.items() if any(fnmatchcase(name, p) for p in patterns)]
        if len(found) != 1:
            yield f"README.md: `configs` names {name} {len(found)} times; each file belongs to one split"
    for split, patterns in splits.items():
        if not any(fnmatchcase(name, p) for name in data for p in patterns):
            yield f"README.md: `configs` names no file that is there for {split[0]}, {split[1]}"


def _splits(card: str) -> Iterator[tuple[tuple[str, str], list[str]]]:
    parts = card.split("---\n", 2)
    try:
        front = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0].strip() else None
    except yaml.YAMLError:
        front = None
    configs = front.get("configs") if isinstance(front, dict) else None
    for config in configs if isinstance(configs, list) else []:
        files = config.get("data_files") if isinstance(config, dict) else None
        for entry in files if isinstance(files, list) else []:
            if isinstance(entry, dict) and "split" in entry and "path" in entry:
                path = entry["path"]
                yield (str(config.get("config_name")), str(entry["split"])), path if isinstance(path, list) else [path]


def sizes(files: Mapping[str, int]) -> Iterator[str]:
    """Files, by name, that are not of the size that the hub advises; the last one may be smaller."""
    least, most = FILE_BYTES
    for number, (name, size) in enumerate(sorted(files.items()), 1):
        if size > most or (size < least and number < len(files)):
            yield f"{name}: {size:,} bytes; the hub advises {least:,} to {most:,}"


@dataclass(frozen=True)
class Verdict:
    """`refused` is what `publish` must not leave; `advice` is what its owner may want to know."""

    refused: Sequence[str]
    advice: Sequence[str]


def check(folder: Location) -> Verdict:
    """Check a published folder: its card and its files' footers. What cannot be read is refused."""
    refusals: list[str] = []
    advice: list[str] = []
    names = [f"data/{name}" for name in names_in(folder / "data") if name.endswith(".parquet")]
    found: dict[str, int] = {}
    columns: dict[tuple[Any, ...], str] = {}
    for name in names:
        size = found[name] = size_of(folder / name) or 0
        try:
            with open_parquet(folder / name) as source:
                file = viewed(name, size, source)
                columns.setdefault(tuple(zip(source.schema_arrow.names, source.schema_arrow.types, strict=True)), name)
        except (OSError, pa.ArrowException, ValueError) as error:
            refusals.append(f"{name}: cannot be read ({str(error).splitlines()[0][:200]})")
            continue
        refusals += refused(file)
        advice += advised(file)
    if len(columns) > 1:
        refusals.append(f"{', '.join(sorted(columns.values())[:2])}: differ in their columns; a split has one table")
    try:
        card = read_bytes(folder / "README.md").decode("utf-8", "replace")
    except OSError:
        card = ""
    return Verdict([*refusals, *unnamed(card, names)], [*advice, *sizes(found)])
