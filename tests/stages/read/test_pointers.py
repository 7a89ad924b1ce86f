"""Pointer tables: one outcome per row, in the order of the table."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.pointer_table import COLUMNS
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.records import read_task
from tests.stages.read.server import serving
from tests.stages.read.warcs import gz, pages, read, record, url, write

RECORDS = [*pages(20), record(kind="request", target=url(20)), record(b"{}", url(21), status="404 Not Found")]
MEMBERS = gz(RECORDS)
STARTS = list(itertools.accumulate(map(len, MEMBERS), initial=0))
KEY = "crawl-data/x.warc.gz"


def pointer(number: int, **changes: Any) -> tuple[Any, ...]:
    row = dict(zip(COLUMNS, (url(number), KEY, STARTS[number], len(MEMBERS[number])), strict=True))
    return tuple((row | changes).values())


def outcomes(folder: Path, rows: Sequence[tuple[Any, ...]], root: str = "", **config: Any) -> list[Page | Skipped]:
    write_table(folder / "p.parquet", rows)
    settings = ReadingConfig(pointer_root=root or str(folder / "root"), retry_wait_seconds=0.0, **config)
    tasks = plan_ranges(resolve_inputs([str(folder / "p.parquet")], settings), settings)
    return [item for task in tasks for item in read_task(task, settings)]


def write_table(path: Path, rows: Sequence[tuple[Any, ...]]) -> None:
    kinds = (pa.string(), pa.string(), pa.int64(), pa.int64())
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    pq.write_table(pa.table(dict(zip(COLUMNS, columns, strict=True))), path, row_group_size=7)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "root" / "crawl-data").mkdir(parents=True)
    write(tmp_path / "root", KEY, MEMBERS)
    return tmp_path


@pytest.mark.parametrize("rows_per_task", [1, 3, 8, 1000])
def test_pointers_give_the_pages_that_reading_the_file_gives(folder: Path, rows_per_task: int) -> None:
    order = [5, 6, 7, 3, 19, 0, 1, 2, 4, 18]
    items = outcomes(folder, [pointer(number) for number in order], pointer_rows=rows_per_task)
    whole = read(folder / "root" / KEY, name=KEY)
    assert items == [whole[number] for number in order]


def test_a_row_that_gives_no_record_is_reported_and_costs_itself(folder: Path) -> None:
    rows = [
        pointer(0),
        pointer(1, warc_record_offset=STARTS[1] + 3),
        pointer(2, warc_record_length=len(MEMBERS[2]) - 20),
        pointer(3, warc_filename="crawl-data/gone.warc.gz"),
        pointer(4, warc_filename="../root/crawl-data/x.warc.gz"),
        pointer(5, warc_filename=None),
        pointer(6, warc_record_offset=-1),
        pointer(7, warc_record_length=10**12),
        pointer(8, warc_record_offset=10**9),
        pointer(20),
        pointer(21),
        pointer(9),
    ]
    items = outcomes(folder, rows)
    assert [item.reason if isinstance(item, Skipped) else item.url for item in items] == [
        url(0),
        "no_record_at_pointer",
        "truncated_tail",
        "pointer_not_found",
        "bad_pointer",
        "bad_pointer",
        "bad_pointer",
        "page_too_large",
        "no_record_at_pointer",
        "request",
        "http_404",
        url(9),
    ]
    assert [item.failed for item in items if isinstance(item, Skipped)] == [True] * 6 + [False, True, False, False]


def test_neighbours_are_fetched_in_one_request(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(folder / "root") as server:
        items = outcomes(folder, [pointer(number) for number in (0, 1, 2, 3, 9, 10, 5)], root=server.url)
        assert len(items) == 7
        assert all(isinstance(item, Page) for item in items)
        assert [(first, last) for _, first, last in server.asked] == [
            (0, STARTS[4] - 1),
            (STARTS[9], STARTS[11] - 1),
            (STARTS[5], STARTS[6] - 1),
        ]
        gone = outcomes(folder, [pointer(1, warc_filename="gone"), pointer(2)], root=server.url)
        assert [getattr(item, "reason", None) for item in gone] == ["pointer_not_found", None]
        beyond = outcomes(folder, [pointer(1, warc_record_offset=10**9), pointer(2)], root=server.url)
        assert [getattr(item, "reason", None) for item in beyond] == ["pointer_not_found", None]
