"""Rows that stand together are one document, wherever a span begins and ends; what is lost costs its documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.document import TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.rows.files import sample_rows
from obelics_pipeline.stages.rows.inputs import count_rows
from obelics_pipeline.stages.rows.layouts.layout import LAYOUTS
from obelics_pipeline.stages.rows.read import Row, read_rows
from obelics_pipeline.stages.rows.row_document import RowDocument, checked
from obelics_pipeline.stages.rows.row_error import RowError
from obelics_pipeline.stages.rows.task import RowsTask
from tests.stages.rows import made

ROWS = "__rows__"
PAGES = [f"https://pages.example/{number}" for number in range(4)]


def corpus(*texts: int) -> list[dict[str, Any]]:
    """Documents with so many texts and as many pictures."""
    return [row for n, count in enumerate(texts) for row in made.curator(f"{n:032x}", PAGES[n], count)]


def read(path: Path, start: int = 0, end: int = 2**40) -> list[Row]:
    return list(read_rows(RowsTask(str(path), "curator", start, end), {}))


def shown(rows: list[Row]) -> list[tuple[int, str]]:
    """Numbers of first rows, with the last part of the URL and the number of nodes, or the reason."""
    return [
        (row.number, row.document.reason)
        if isinstance(row.document, RowError)
        else (row.number, f"{row.document.url[-1]} {len(row.document.nodes)}")
        for row in rows
    ]


def document(rows: list[dict[str, Any]]) -> RowDocument:
    return checked(LAYOUTS["curator"].document_of({ROWS: rows}))


def test_texts_and_pictures_stand_in_the_order_of_their_positions() -> None:
    found = document(made.curator()[::-1])
    assert [n.text if isinstance(n, TextNode) else n.src for n in found.nodes] == ["Text 0.", "a/1", "Text 1.", "a/3"]
    assert found.pictures == [b"picture", b"picture"]
    assert (found.url, found.doc_id) == (made.PAGE, None)


def test_an_id_of_ours_is_kept() -> None:
    assert document(made.curator("0" * 31 + "1")).doc_id == "0" * 31 + "1"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"position": "1"}, "wrong_type"),
        ({"modality": "video"}, "wrong_type"),
        ({"text_content": None}, "wrong_type"),
        ({"modality": "image", "binary_content": "text"}, "wrong_type"),
        ({"modality": "image", "image_metadata": "{"}, "broken_metadata"),
    ],
)
def test_what_is_wrong_with_a_row_is_the_reason_of_its_document(changed: dict[str, Any], reason: str) -> None:
    rows = made.curator()
    rows[1] |= changed
    with pytest.raises(RowError) as caught:
        document(rows)
    assert caught.value.reason == reason


@pytest.mark.parametrize(("rows", "reason"), [(made.curator(page=""), "no_url"), (made.curator(count=0), "no_text")])
def test_a_document_without_a_page_or_a_text_is_none(rows: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(RowError) as caught:
        document(rows)
    assert caught.value.reason == reason


@given(
    texts=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    cuts=st.sets(st.integers(1, 25), max_size=4),
    group=st.integers(1, 9),
)
def test_spans_of_a_file_have_each_document_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[int], cuts: set[int], group: int
) -> None:
    path = made.parquet(tmp_path_factory.mktemp("rows") / "a.parquet", corpus(*texts), row_group_size=group)
    count = count_rows(str(path), "curator", {})
    assert count == sum(1 + 2 * n for n in texts)
    ends = [*sorted(cut for cut in cuts if cut < count), count]
    spans = [row for start, end in zip([0, *ends], ends, strict=False) for row in read(path, start, end)]
    whole = shown(read(path))
    assert shown(spans) == whole
    assert [number for number, _ in whole] == [sum(1 + 2 * n for n in texts[:k]) for k in range(len(texts))]


def test_lost_rows_cost_the_documents_that_they_stand_in(tmp_path: Path) -> None:
    path = made.damaged(made.parquet(tmp_path / "a.parquet", corpus(2, 2, 2), row_group_size=3), group=1)
    lost = [(0, "damaged_rows"), (6, "damaged_rows"), (10, "2 4")]  # rows 3, 4, 5: of the first and of the second
    assert shown(read(path)) == lost
    assert shown(read(path, 0, 6)) == lost[:1]
    assert shown(read(path, 6, 15)) == lost[1:]


def test_a_document_of_too_many_bytes_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_rows, "MAX_BYTES", 300)
    path = made.parquet(tmp_path / "a.parquet", corpus(1, 3, 1))
    assert shown(read(path)) == [(0, "0 2"), (3, "row_too_large"), (10, "2 2")]


def test_a_file_of_another_layout_is_refused_by_its_columns(tmp_path: Path) -> None:
    path = made.parquet(tmp_path / "a.parquet", [made.mint1t()])
    with pytest.raises(UserError, match="has no column sample_id, which reading"):
        count_rows(str(path), "curator", {})
