"""Each rule of the hub's viewer has a folder that breaks it, and a folder that `publish` writes breaks none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.inspect.published.parquet_part import write_rows
from obelics_pipeline.inspect.published.table import IMAGE
from obelics_pipeline.inspect.published.viewer import Verdict, Viewed, advised, check, refused, sizes

SCHEMA = pa.schema([("doc_id", pa.string()), ("texts", pa.list_(pa.string())), ("images", pa.list_(IMAGE))])
CARD = """---
configs:
- config_name: default
  data_files:
  - split: train
    path: "data/train-*.parquet"
---
"""


def table(rows: int, pictures: int = 1) -> pa.Table:
    picture = {"bytes": b"x" * 10, "path": "x.png"}
    return pa.Table.from_pylist(
        [{"doc_id": str(i), "texts": [None] * pictures, "images": [picture] * pictures} for i in range(rows)], SCHEMA
    )


def write(folder: Path, change: Callable[[Path], object] | None = None, card: str = CARD, **options: Any) -> Verdict:
    """A folder of one file, checked."""
    (folder / "data").mkdir()
    path = folder / "data/train-00000-of-00001.parquet"
    settings = {"row_group_size": 100, "write_page_index": True} | options
    pq.write_table(settings.pop("table", table(150)), path, **settings)
    (folder / "README.md").write_text(card)
    if change is not None:
        change(path)
    return check(folder)


def test_a_good_folder_passes(tmp_path: Path) -> None:
    assert write(tmp_path) == Verdict([], [])


def test_what_publish_writes_passes(tmp_path: Path) -> None:
    def rewrite(path: Path) -> None:
        write_rows(path, pa.schema([*SCHEMA, ("image_urls", pa.list_(pa.string())), ("metadata", pa.string()),
                                    ("general_metadata", pa.string())]), rows)  # fmt: skip

    rest = {"image_urls": [None], "metadata": "[]", "general_metadata": "{}"}
    rows = [row | rest for row in table(250).to_pylist()]
    assert write(tmp_path, rewrite).refused == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"row_group_size": 150}, "group 0 has 150 rows; at most 100"),
        ({"write_page_index": False}, "a column has no page index"),
        (
            {"table": pa.table({f"c{i}": pa.nulls(1, pa.float64()) for i in range(1001)})},
            "1,001 columns; the viewer shows at most 1,000",
        ),
        ({"card": "# no front matter"}, "no `configs` in the front matter that names files by split"),
        ({"card": "---\nconfigs: [\n---\n"}, "no `configs` in the front matter"),
        ({"card": CARD.replace("train-*", "test-*")}, "names data/train-00000-of-00001.parquet 0 times"),
        ({"card": CARD.replace("train-*", "test-*")}, "names no file that is there for default, train"),
        ({"change": lambda path: path.write_bytes(path.read_bytes()[:100])}, "cannot be read ("),
        (
            {"change": lambda path: pq.write_table(
                pa.table({"a": [1]}), path.with_name("train-00001-of-00001.parquet"), write_page_index=True
            )},
            "differ in their columns; a split has one table",
        ),
    ],
)  # fmt: skip
def test_a_folder_that_breaks_a_rule_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    found = write(tmp_path, **change).refused
    assert any(said in line for line in found), found


def test_a_file_of_two_splits_is_refused(tmp_path: Path) -> None:
    both = CARD.removesuffix("---\n") + '  - split: test\n    path: ["data/train-00000*"]\n---\n'
    assert "names data/train-00000-of-00001.parquet 2 times" in write(tmp_path, card=both).refused[0]


def file(*groups: tuple[int, int], pictures: int = 0, columns: int = 10) -> Viewed:
    return Viewed("data/x.parquet", 1, [str(i) for i in range(columns)], groups, True, pictures)


def test_a_group_of_many_bytes_is_refused_unless_it_is_one_document() -> None:
    assert list(refused(file((2, 100_000_001)))) == [
        "data/x.parquet: group 0 has 100,000,001 bytes; at most 100,000,000"
    ]
    assert list(refused(file((1, 100_000_001), (2, 100_000_000)))) == []


@pytest.mark.parametrize(
    ("groups", "most"),
    [
        ([], 0),
        ([(100, 5), (100, 7)], 7),
        ([(60, 5), (60, 7), (60, 11)], 18),  # rows 100 to 179 lie in the second and the third
        ([(30, 1)] * 4, 4),
        ([(250, 3), (50, 2)], 5),
    ],
)
def test_a_page_of_a_hundred_rows_reads_whole_groups(groups: list[tuple[int, int]], most: int) -> None:
    assert file(*groups).page_bytes() == most


def test_documents_that_are_too_large_for_a_page_are_named_and_not_refused() -> None:
    heavy = file(*[(20, 90_000_000)] * 5)
    assert list(refused(heavy)) == []
    assert list(advised(heavy)) == [
        "data/x.parquet: a page of 100 rows has 450,000,000 bytes; the viewer shows at most 300,000,000"
    ]


def test_first_rows_of_many_pictures_are_named(tmp_path: Path) -> None:
    (said,) = write(tmp_path, table=table(20, pictures=120)).advice
    assert "the first 10 rows have 1,200 pictures and 3 columns, about 1,203,000 bytes" in said
    assert list(advised(file(pictures=900))) == []


def test_files_have_the_size_that_the_hub_advises_but_the_last() -> None:
    assert list(sizes({"a": 400_000_000, "b": 500_000_000, "c": 1})) == []
    assert list(sizes({"a": 500_000_001, "b": 1, "c": 1})) == [
        "a: 500,000,001 bytes; the hub advises 300,000,000 to 500,000,000",
        "b: 1 bytes; the hub advises 300,000,000 to 500,000,000",
    ]
    assert list(sizes({"a": 1})) == []
