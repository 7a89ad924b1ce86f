"""What the real reader, extractor and filters make of the site is what its author meant."""

from typing import Any

from obelics_pipeline.demo.pages import SITE, page_url, pages, peculiarities, written_pages

from .conftest import Extracted


def reasons(extracted: Extracted) -> dict[str, str]:
    return {r["url"]: r["reason"] for r in extracted.records if r["outcome"] != "kept" and r["url"]}


def test_the_site_is_small_and_has_pages_enough() -> None:
    files = [path for path in SITE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert 120 <= len(pages()) <= 200


def test_every_html_file_is_a_page_and_every_page_has_its_own_url() -> None:
    urls = [page.url for page in pages()]
    assert len(set(urls)) == len(urls)
    assert len(list(written_pages())) == len([path for path in SITE.rglob("*.htm*") if path.is_file()])
    assert page_url(SITE / "a.example" / "b" / "index.html") == "http://a.example/b/"


def test_every_host_is_a_reserved_name() -> None:
    assert all(page.host.endswith(".example") for page in pages())


def test_what_site_yaml_says_is_about_pages_that_exist() -> None:
    assert set(peculiarities()["pages"]) <= {page.url for page in pages()}


def test_records_that_give_no_document_have_the_expected_reason(
    extracted: Extracted, expectations: dict[str, Any]
) -> None:
    found = reasons(extracted)
    revisited = {"http://fieldwiki.example/wiki/Tide.html"}  # has a good capture as well
    assert {url: found.get(url) for url in expectations["records"]} == expectations["records"]
    assert set(found) - set(expectations["records"]) == set()
    assert {d.url for d in extracted.documents} & set(found) == revisited


def test_the_damaged_record_costs_one_page(extracted: Extracted) -> None:
    damaged = [page.url for page in pages() if page.damaged]
    failed = [r for r in extracted.records if r["outcome"] == "failed"]
    assert [r["reason"] for r in failed] == ["damaged_member"]
    assert len(damaged) == 1
    seen = {d.url for d in extracted.documents} | set(reasons(extracted))
    assert {page.url for page in pages()} - seen == set(damaged)


def test_good_pages_are_kept_with_their_pictures(extracted: Extracted, expectations: dict[str, Any]) -> None:
    for url, images in expectations["good"].items():
        documents = extracted.of(url)
        assert documents, url
        assert all(d.reason is None for d in documents), url
        assert sum(len(d.images()) for d in documents) >= images, url


def test_thin_pages_and_link_farms_are_dropped_before_an_image_is_asked_for(
    extracted: Extracted, expectations: dict[str, Any]
) -> None:
    expected = expectations["dropped_early"]
    assert {url: extracted.of(url)[0].reason for url in expected} == expected


def test_english_pages_pass_the_filters_of_the_paper(under_the_paper: Extracted, expectations: dict[str, Any]) -> None:
    lost = {url: d.reason for url in expectations["good"] for d in under_the_paper.of(url) if d.reason}
    assert lost == {}


def test_farms_shops_and_thin_pages_are_dropped_by_the_filters_of_the_paper(
    under_the_paper: Extracted, expectations: dict[str, Any]
) -> None:
    kept = [url for url in expectations["dropped_by_the_paper"] for d in under_the_paper.of(url) if not d.reason]
    assert kept == []


def test_pages_in_other_languages_are_recognised_and_kept(extracted: Extracted, expectations: dict[str, Any]) -> None:
    expected = expectations["good_in_other_languages"]
    assert {url: extracted.of(url)[0].language for url in expected} == expected
    assert [url for url in expected if extracted.of(url)[0].reason] == []


def test_every_encoding_is_read(extracted: Extracted, expectations: dict[str, Any]) -> None:
    for url, words in expectations["decoded"].items():
        assert words in extracted.of(url)[0].text(), url


def test_one_bad_byte_costs_one_letter(extracted: Extracted) -> None:
    text = extracted.of("http://oneletter.example/diary/the-printing-press.html")[0].text()
    assert text.count("\ufffd") == 1
    assert "Ã" not in text


def test_the_long_page_is_split(extracted: Extracted) -> None:
    parts = extracted.of("http://openhandbook.example/hill-farm/year.html")
    assert len(parts) == 2
    assert all(len(part.images()) <= 30 for part in parts)
