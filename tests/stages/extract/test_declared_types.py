"""Types of schema.org are found wherever a page declares them, each once, and nowhere else."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract.declared_types import declared_types


def linked(*values: str) -> bytes:
    return "".join(f'<script type="application/ld+json">{value}</script>' for value in values).encode()


@pytest.mark.parametrize(
    ("source", "types"),
    [
        (linked('{"@context": "https://schema.org", "@type": "Product"}'), ["Product"]),
        (linked('{"@type" : "Product", "@context":"http://schema.org/"}'), ["Product"]),
        (linked(r'{"@context": "https:\/\/schema.org\/", "@type": ["QAPage", "WebPage"]}'), ["QAPage"]),
        (linked('{"@context": "https://schema.org", "@type": "https://schema.org/Person"}'), ["Person"]),
        (
            linked('{"@context": "https://schema.org", "@graph": [{"@type": "A"}, {"@type": "B"}, {"@type": "A"}]}'),
            ["A", "B", "A"],
        ),
        (linked(*['{"@context": "https://schema.org", "@type": "Offer"}'] * 3), ["Offer"] * 3),
        (b'<p itemscope itemtype="http://schema.org/Car"><b itemtype=https://schema.org/Offer>', ["Car", "Offer"]),
        (b"<p ITEMTYPE = 'https://www.schema.org/Article'>", ["Article"]),
    ],
)  # fmt: skip
def test_types_are_counted(source: bytes, types: list[str]) -> None:
    assert declared_types(b"<html>" + source + b"<p>text</p>") == Counter(types)


@pytest.mark.parametrize(
    "source",
    [
        b'<script>var a = {"@type": "Product"}</script>',
        b'<script>var a = {"@type": "Product"}</script><a href="https://schema.org/Offer">',
        b'<a itemprop="x" href="https://schema.org/Product">schema.org</a>',
        b'itemtype="https://schema.org',
        b"",
    ],
)
def test_other_mentions_declare_nothing(source: bytes) -> None:
    assert declared_types(source) == Counter()


pieces = st.sampled_from(
    [b"schema.org", b"/", b'itemtype="https://schema.org/Product"', b'"@type": "Offer"', b"</", b">", b"x" * 50]
)


@given(st.lists(pieces, max_size=60).map(b"".join))
def test_no_type_is_counted_more_often_than_it_is_written(source: bytes) -> None:
    found = declared_types(source)
    assert found["Product"] <= source.count(b"Product")
    assert found["Offer"] <= source.count(b"Offer")
    assert set(found) <= {"Product", "Offer"}
