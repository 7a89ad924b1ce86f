"""The day of publication is what the page says of itself, if it is a day on which it can have been."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.page import extract_page
from obelics_pipeline.stages.extract.publication import is_ahead, published

META = '<meta property="article:published_time" content="2021-03-05T10:00:00+02:00">'
SCRIPT = '<script type="application/ld+json">{"@type": "Article", "datePublished" : "2020-01-02T03:04:05Z"}</script>'
TIME = '<time class="entry-date published" datetime="2019-07-08">July</time>'


@pytest.mark.parametrize(
    ("html", "day"),
    [
        (f"<head>{META}{SCRIPT}</head><body>{TIME}", date(2021, 3, 5)),
        (f"<body><p>x{SCRIPT}{TIME}", date(2020, 1, 2)),
        (f"<body><time datetime=2018-01-01>updated</time>{TIME}", date(2019, 7, 8)),
        ('<meta property="article:published_time" content="2021-03-05T23:00:00-05:00">', date(2021, 3, 6)),
        ('<meta property="article:published_time" content="yesterday">' + TIME, date(2019, 7, 8)),
        ('<meta property="article:published_time" content="0001-01-01T00:00:00+14:00">' + TIME, date(2019, 7, 8)),
        ('<meta name="pubdate" content="1970-01-01">', None),  # before the web
        ("<time datetime=2018-01-01>of something else</time>", None),
        ("<p>x", None),
    ],
)
@pytest.mark.parametrize("rules", ["default", "obelics"])
def test_the_day_that_a_page_gives_itself(html: str, day: date | None, rules: str) -> None:
    assert extract_page(html, "https://a.example/", ExtractionConfig(rules=rules)).published == day  # type: ignore[arg-type]


def test_a_meta_element_in_the_body_says_it_too() -> None:
    html = '<body><p itemprop="x"><meta itemprop="datePublished" content="20210102">'
    assert extract_page(html, "https://a.example/", ExtractionConfig()).published == date(2021, 1, 2)


def test_a_day_after_the_capture_is_none() -> None:
    assert is_ahead(date(2024, 5, 8), "2024-05-06T23:00:00Z")
    assert not is_ahead(date(2024, 5, 7), "2024-05-06T23:00:00Z")
    assert not is_ahead(date(2999, 1, 1), None)


@given(st.lists(st.text(max_size=30), max_size=3), st.binary(max_size=200))
def test_anything_is_a_day_or_none(metas: list[str], source: bytes) -> None:
    published(metas, source + b'<time published datetime="' + source + b'<time published datetime="2020-01-01">')
