"""A page's source is what Python encodes, and a mark is found where `bytes.find` finds it, compiled or in Python."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract.find import encode, find

sources = st.lists(st.sampled_from([b"<", b"<n", b"no", b"<no", b"\0", b"x"]), max_size=12).map(b"".join)


@given(sources, st.sampled_from([b"<", b"<no", b"<n<n", b"\0x", b"x" * 20]), st.integers(0, 40))
@example(b"a<no", b"<no", 1)
@example(b"a<no", b"<no", 2)
@example(b"a<n", b"<no", 0)
@example(b"", b"<", 0)
def test_a_mark_is_where_bytes_find_says(source: bytes, mark: bytes, start: int) -> None:
    assert find(source, mark, start) == source.find(mark, start)


def test_a_page_of_beginnings_is_passed_once() -> None:
    assert find(b"<noscrip" * 100_000, b"<noscript", 0) == -1


def test_the_compiled_search_is_used_where_it_was_built() -> None:
    compiled = pytest.importorskip("obelics_pipeline.stages.extract._tag_scan", reason="the extension was not built")
    assert find is compiled.find


@given(
    st.lists(st.sampled_from(["a" * 16, "a", "\0", "é", "日", "\ud800", "\U00020000", "\u8000", "\xff"]), max_size=9)
)
@example(["a" * 40, "é", "a" * 40, "\0", "b"])
@example(["a" * 40, "\U00020000", "a" * 15, "\udfff", "b" * 17, "\0"])
@example(["日" * 40, "a" * 100, "\u0800\u07ff\x80\x7f"])
def test_a_page_is_encoded_without_nul_and_surrogates(parts: list[str]) -> None:
    page = "".join(parts)
    assert encode(page) == page.encode("utf-8", "replace").replace(b"\0", b"")
