import json
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.gold import Gold, Truth, read_gold
from obelics_pipeline.stages.read.page import Page

URL = "https://www.site.example/"


def page(warc: str = "crawl/a.warc.gz", offset: int = 7, url: str = URL) -> Page:
    return Page(url, warc, offset, 1, 0, None, "", "utf-8", "default", "text/html", None)


def gold(folder: Path, *rows: Any) -> Gold:
    path = folder / "gold.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    return read_gold(path)


def test_a_row_finds_its_page_by_base_name_and_offset(tmp_path: Path) -> None:
    found = gold(tmp_path, {"warc": "other/a.warc.gz", "offset": 7, "article_text": "A"})
    assert found.find(page()) == Truth("A")
    assert found.find(page(offset=8)) is None
    assert found.find(page(warc="b.warc.gz")) is None


def test_a_row_without_a_place_finds_its_page_by_url(tmp_path: Path) -> None:
    found = gold(tmp_path, {"url": URL, "must_contain": ["a"], "must_not_contain": ["b", "c"]})
    assert found.find(page()) == Truth(None, ("a",), ("b", "c"))
    assert found.find(page(url=URL + "x")) is None


def test_a_row_may_name_the_kind_of_its_page_alone(tmp_path: Path) -> None:
    assert gold(tmp_path, {"url": URL, "page_type": "forum"}).find(page()) == Truth(None, page_type="forum")


def test_a_place_goes_before_a_url(tmp_path: Path) -> None:
    rows = [
        {"url": URL, "article_text": "of the url"},
        {"warc": "a.warc.gz", "offset": 7, "article_text": "of the place"},
    ]
    assert gold(tmp_path, *rows).find(page()) == Truth("of the place")


def test_rows_of_one_offset_are_told_apart_by_url(tmp_path: Path) -> None:
    place = {"warc": "a.warc.gz", "offset": 7}
    found = gold(
        tmp_path, {**place, "url": "http://x/", "article_text": "x"}, {**place, "url": URL, "article_text": "y"}
    )
    assert found.find(page()) == Truth("y")
    assert found.find(page(url="http://z/")) is None


def test_two_rows_of_one_page_are_refused(tmp_path: Path) -> None:
    found = gold(tmp_path, {"url": URL, "article_text": "A"}, "", {"url": URL, "article_text": "B"})
    with pytest.raises(UserError, match="lines 1 and 3 are of one page"):
        found.find(page())


def test_blank_lines_and_other_keys_do_no_harm(tmp_path: Path) -> None:
    assert gold(tmp_path, "", {"url": URL, "article_text": "", "lang": "de"}, "").find(page()) == Truth("")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "Expecting property name"),
        ("[" * 100_000, "recursion"),
        ("[]", "a row is a JSON object, not a list"),
        ({"article_text": "A"}, "a row names its page by warc and offset, or by url"),
        ({"warc": "a.warc.gz", "article_text": "A"}, "a row names its page by warc and offset, or by url"),
        ({"warc": "a.warc.gz", "offset": "7", "article_text": "A"}, "offset is a whole number, not a text"),
        ({"warc": "a.warc.gz", "offset": True, "article_text": "A"}, "offset is a whole number, not true or false"),
        ({"url": 1, "article_text": "A"}, "url is a text, not a number"),
        ({"url": URL}, "neither article_text nor a snippet"),
        ({"url": URL, "must_contain": []}, "neither article_text nor a snippet"),
        ({"url": URL, "article_text": ["A"]}, "article_text is a text, not a list"),
        ({"url": URL, "must_contain": "A"}, "must_contain is a list of texts"),
        ({"url": URL, "must_not_contain": [1]}, "must_not_contain is a list of texts"),
        ({"url": URL, "page_type": "blog"}, "page_type is article, .* or service, not blog"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        gold(tmp_path, {"url": URL, "article_text": "A"}, row)
    assert str(raised.value).startswith(f"{tmp_path / 'gold.jsonl'}:2: ")
    assert "\n" not in str(raised.value)


def test_what_cannot_be_read_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\n")
    for name in ("absent.jsonl", "latin.jsonl"):
        with pytest.raises(UserError, match="cannot be read as gold") as raised:
            read_gold(tmp_path / name)
        assert "\n" not in str(raised.value)
