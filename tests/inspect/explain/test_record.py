"""A record is found again where it was, and nothing else is taken for it."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.explain.record import find_warc, is_warc, page_in_file, record_at, record_of
from obelics_pipeline.stages.read.page import Page, Skipped
from tests.stages.read.warcs import html, record, url

CONFIG = ReadingConfig()


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    path = tmp_path / "pages.warc.gz"
    path.write_bytes(b"".join(record(html(n), url(n), compressed=True) for n in range(2)))
    return path


def test_a_record_of_another_url_is_not_the_one(warc: Path) -> None:
    found = record_at(str(warc), "name.warc.gz", 0, url(0), CONFIG)
    assert isinstance(found, Page)
    assert (found.url, found.warc_filename, found.offset) == (url(0), "name.warc.gz", 0)
    with pytest.raises(UserError, match=f"is of {url(0)}, not of {url(1)}"):
        record_at(str(warc), "name.warc.gz", 0, url(1), CONFIG)


def test_pages_that_share_an_offset_are_told_by_url(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "one-member.warc.gz"
    path.write_bytes(gzip.compress(b"".join(record(html(n), url(n)) for n in range(3))))
    for n in range(3):
        found = record_at(str(path), path.name, 0, url(n), CONFIG)
        assert isinstance(found, Page)
        assert (found.url, found.ordinal) == (url(n), n)


def test_a_record_that_is_no_page_has_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(record(b"gone", url(0), status="404 Not Found"))
    assert isinstance(found := record_of(str(path), url(0), CONFIG), Skipped)
    assert found.reason == "http_404"
    assert record_of(str(path), "0", CONFIG).url == url(0)
    with pytest.raises(UserError, match="no page in it"):
        record_of(str(path), None, CONFIG)


def test_a_warc_is_found_by_its_name_or_where_it_was_moved_to(warc: Path, tmp_path: Path) -> None:
    assert find_warc("pages.warc.gz", [str(tmp_path / "*.gz")], CONFIG) == str(warc)
    assert find_warc("crawl/2031/pages.warc.gz", ["nowhere.warc.gz", str(warc)], CONFIG) == str(warc)
    with pytest.raises(UserError, match="--input"):
        find_warc("others.warc.gz", [str(warc)], CONFIG)


def test_a_page_in_a_file_is_decoded_by_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes('<meta charset="windows-1251"><p>Мост через реку'.encode("cp1251"))
    page = page_in_file(path, None, CONFIG)
    assert "Мост" in page.html
    assert page.charset_source == "meta"
    with pytest.raises(UserError, match="at most 10"):
        page_in_file(path, None, ReadingConfig(max_page_bytes=10))


def test_warcs_are_known_by_their_names() -> None:
    assert all(map(is_warc, ("a.warc", "b/A.WARC.GZ", "https://x.example/a.warc.zst?v=1")))
    assert not any(map(is_warc, ("a.html", "warc", "a.warc.txt")))
