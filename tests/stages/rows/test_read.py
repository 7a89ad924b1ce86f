"""Files of rows: each row once, whatever the file; what is damaged, or a trap, costs itself and is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.rows.files import json_lines, raw_row, tar_rows
from obelics_pipeline.stages.rows.inputs import count_rows
from obelics_pipeline.stages.rows.read import read_rows
from obelics_pipeline.stages.rows.row_error import RowError
from obelics_pipeline.stages.rows.task import RowsTask
from tests.stages.rows import made


def read(path: Path, layout: str = "mint1t", start: int = 0, end: int = 2**40) -> list[tuple[int, str]]:
    """Numbers of rows, with their URL or the reason against them."""
    rows = read_rows(RowsTask(str(path), layout, start, end), {})
    return [
        (row.number, row.document.reason if isinstance(row.document, RowError) else row.document.url.rpartition("/")[2])
        for row in rows
    ]


def rows(count: int) -> list[dict[str, object]]:
    return [made.mint1t(url=f"https://pages.example/{number}") for number in range(count)]


def whole(count: int) -> list[tuple[int, str]]:
    return [(number, str(number)) for number in range(count)]


def test_spans_of_a_parquet_file_have_each_row_once(tmp_path: Path) -> None:
    path = made.parquet(tmp_path / "a.parquet", rows(10), row_group_size=3)
    assert count_rows(str(path), "mint1t", {}) == 10
    assert read(path) == whole(10)
    assert [row for start in range(0, 10, 4) for row in read(path, start=start, end=min(start + 4, 10))] == whole(10)


def test_a_damaged_group_costs_its_rows_and_a_cut_file_says_so(tmp_path: Path) -> None:
    path = made.damaged(made.parquet(tmp_path / "a.parquet", rows(9), row_group_size=3), group=1)
    assert read(path) == [*whole(3), *((number, "damaged_rows") for number in (3, 4, 5)), *whole(9)[6:]]


def test_a_string_that_is_no_utf_8_costs_its_row(tmp_path: Path) -> None:
    texts = pa.array([[b"\xff\xfe", None]], pa.list_(pa.binary())).cast(pa.list_(pa.string()), safe=False)
    table = pa.table({"texts": texts, "images": [[None, made.FIRST]], "url": [made.PAGE]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == [(0, "not_utf8")]


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_json_lines_are_read_plain_and_packed(tmp_path: Path, packed: str) -> None:
    text = "\ufeff" + "\n\n".join(json.dumps(row) for row in rows(3)) + "\n"
    data = text.encode()
    data = gzip.compress(data) if packed == ".gz" else zstandard.compress(data) if packed == ".zst" else data
    path = tmp_path / f"a.jsonl{packed}"
    path.write_bytes(data)
    assert count_rows(str(path), "mint1t", {}) is None
    assert read(path) == whole(3)


def test_a_broken_line_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_LINE", 1000)
    good = json.dumps(rows(1)[0]).encode()
    broken = [b"{", b"[1]", b"\xff", b"[" * 900, b'"' + b"a" * 5000 + b'"']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*broken, good]))
    found = [reason for _, reason in read(tmp_path / "a.jsonl")]
    assert found == ["not_json", "not_json", "not_utf8", "not_json", "row_too_large", "0"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_that_is_cut_or_a_trap_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(pack(b"".join(json.dumps(row).encode() + b"\n" for row in rows(2000)))[:-20])
    assert read(path)[-1][1] == "unreadable_rest"
    monkeypatch.setattr(json_lines, "MAX_INFLATED", 100_000)
    path.write_bytes(pack(b"{" * 1_000_000))
    assert read(path) == [(0, "unreadable_rest")]


def test_members_of_a_tar_that_have_one_key_are_a_row(tmp_path: Path) -> None:
    row = made.mint1t(images=["page_0_image_1", None], texts=[None, "x"])
    path = made.tar(
        tmp_path / "a.tar",
        [
            ("a.tiff", b"one"),
            ("a.json", json.dumps(row).encode()),
            ("b.png", b"without"),
            ("c.json", b"{"),
            ("d/a.json", json.dumps(rows(1)[0]).encode()),
        ],
    )
    assert [reason for _, reason in read(path)] == ["garden.html", "not_json", "not_json", "0"]


def test_a_cut_tar_a_large_member_and_what_is_no_tar_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made.tar(tmp_path / "a.tar", [("a.json", json.dumps(rows(1)[0]).encode()), ("b.json", b"{}" * 600)])
    monkeypatch.setattr(tar_rows, "MAX_BYTES", 1000)
    assert [reason for _, reason in read(path)] == ["0", "row_too_large"]
    path.write_bytes(path.read_bytes()[:1800])
    monkeypatch.setattr(tar_rows, "MAX_BYTES", raw_row.MAX_BYTES)
    assert [reason for _, reason in read(path)] == ["0", "unreadable_rest"]
    path.write_bytes(b"no tar" * 200)
    assert [reason for _, reason in read(path)] == ["unreadable_rest"]


def test_of_rows_with_one_id_the_first_counts(tmp_path: Path) -> None:
    path = made.parquet(tmp_path / "a.parquet", [made.published(), made.published()])
    assert [reason for _, reason in read(path, "published")] == ["garden.html", "repeated_id"]


def test_rows_that_may_not_be_read_are_counted(tmp_path: Path) -> None:
    path = made.parquet(tmp_path / "a.parquet", rows(4), row_group_size=2)
    found = list(read_rows(RowsTask(str(path), "mint1t", 0, 4), {}, lambda number: number != 2))
    assert [row.document.reason for row in found if isinstance(row.document, RowError)] == ["worker_died"] * 2
    assert [row.number for row in found] == [0, 1, 2, 3]


def test_a_file_of_another_layout_is_refused_at_the_start(tmp_path: Path) -> None:
    path = made.parquet(tmp_path / "a.parquet", [{"text": "a"}])
    with pytest.raises(UserError, match=r"has no column texts, which reading\.layout obelics reads"):
        count_rows(str(path), "obelics", {})
    path.write_bytes(b"no parquet")
    with pytest.raises(UserError, match="cannot be read as Parquet"):
        count_rows(str(path), "obelics", {})
