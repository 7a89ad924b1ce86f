"""The compiled scan and that in Python must agree on every page there can be."""

from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.stages.extract import parse_cost, tag_scan

compiled = pytest.importorskip("obelics_pipeline.stages.extract._tag_scan", reason="the extension was not built")

NO_END = 2**62
LISTS = (
    tag_scan._ALONE,
    tag_scan._FORMATTING,
    tag_scan._RAW,
    tag_scan._FOREIGN,
    tag_scan._SHAPES,
    tag_scan._LEAVES_FOREIGN,
)
NAMES = sorted({*chain(*LISTS), b"div", b"span", b"x-y", b"a" * 17, b"DIV", b"Script", b"SVG", b"\xc3\xa9"})

names = st.sampled_from([*NAMES, *[b"script", b"svg", b"title", b"style", b"div", b"b", b"g", b"font"] * 6])
space = st.sampled_from([b"", b" ", b"\n", b"\t/", b"/", b"\v", b"\f", b"\0"])
attributes = st.lists(
    st.sampled_from(
        [b" a", b"=", b"a=b", b" a='", b' a="', b" a='>'", b' a="<p>"', b" /", b"==", b" a = c", b"=a/", b"\va", b"\r"]
    ),
    max_size=4,
).map(b"".join)
tags = st.builds(
    lambda open_, name, gap, rest, end: open_ + name + gap + rest + end,
    st.sampled_from([b"<", b"</"]),
    names,
    space,
    attributes,
    st.sampled_from([b">", b"/>", b"", b" >"]),
)
pieces = st.one_of(
    tags,
    tags,
    st.sampled_from(
        b"< </ <! <!-- <!--> <!---> <!----!> --> --!> -->> - > / = \" ' <![CDATA[ ]]> ]> <? </> <!> <!--!> <!---!> x "
        b"<script><!--<script> </script> <svg><title> <svg><g> </svg>".split(b" ")
    ),
    st.binary(max_size=3),
)
pages = st.one_of(
    st.binary(max_size=60),
    st.text("<>/!-'\"= \nabgipsv", max_size=60).map(str.encode),
    st.lists(pieces, max_size=40).map(b"".join),
    st.builds(lambda page, n: b"".join(page) * n, st.lists(pieces, max_size=8), st.integers(2, 8)),
)


def test_the_compiled_scan_is_used_where_it_was_built() -> None:
    assert parse_cost.scan_tags is compiled.scan_tags


@given(pages)
@settings(max_examples=1_000, deadline=None)
def test_scans_agree(page: bytes) -> None:
    assert compiled.scan_tags(page, NO_END) == tag_scan.scan_tags(page, NO_END)


@given(pages, st.integers(0, 30))
def test_scans_stop_at_the_same_place(page: bytes, steps: int) -> None:
    assert compiled.scan_tags(page * 3, steps) == tag_scan.scan_tags(page * 3, steps)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("before", [b"", b"<svg>", b"<svg><g>", b"<math>", b"<svg><p>"])
def test_scans_take_each_name_for_the_same_thing(name: bytes, before: bytes) -> None:
    for tag in (b"<%b>", b"<%b/>", b"<%b></%b>", b"<%b><div></%b>"):
        page = before + (tag.replace(b"%b", name) + b"<p>") * 5
        assert compiled.scan_tags(page, NO_END) == tag_scan.scan_tags(page, NO_END)


@pytest.mark.parametrize("arguments", [("<p>", 1), (bytearray(b"<p>"), 1), (b"<p>",), (b"<p>", 2**64), (b"<p>", "1")])
def test_wrong_arguments_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, OverflowError)):
        compiled.scan_tags(*arguments)
