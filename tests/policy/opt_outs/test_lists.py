"""Opt-out lists: any file, of any size, however damaged, is read as a stream; what it names is found, and no more."""

import gzip
import hashlib
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.consent import OptOutListConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.opt_outs import lists
from obelics_pipeline.policy.opt_outs.list_file import MAX_LINE
from obelics_pipeline.policy.opt_outs.lists import OptOuts, prepare


def ready(path: Path, kind: str, content: str | bytes | None = None, **more: object) -> OptOuts:
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    config = OptOutListConfig.model_validate({"path": str(path), "kind": kind, **more})
    return prepare({"mine": config}, path.parent / "made", {})


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/x", "http://www.a.example/x/?utm_source=mail#top", "HTTPS://A.EXAMPLE:443/x",
        "https://b.example/%7Eme", "https://xn--mnchen-3ya.example/", "http://b.example/?q=1&p=2",
    ],
)  # fmt: skip
def test_an_address_is_found_in_any_spelling(tmp_path: Path, url: str) -> None:
    text = "\ufeffhttps://a.example/x\r\n# none\n\nb.example/~me\nhttp://münchen.example\nb.example?p=2&q=1\n"
    found = ready(tmp_path / "list.txt", "urls", text)
    assert found.page_reason(url) == found.image_reason(url) == "opt_out_mine"


@pytest.mark.parametrize("url", ["https://a.example/x/y", "https://a.example/", "https://other.example/x", "", "x"])
def test_another_address_is_not(tmp_path: Path, url: str) -> None:
    assert ready(tmp_path / "list.txt", "urls", "https://a.example/x\n").page_reason(url) is None


@pytest.mark.parametrize(
    ("url", "is_listed"),
    [
        ("https://a.example/x", True), ("https://deep.below.a.example/", True), ("http://A.Example.:8080/", True),
        ("https://not-a.example/", False), ("https://a.example.other/", False), ("https://example/", False),
        ("http://10.0.0.1/", True), ("http://[2001:db8::1]/", True), ("http://1.10.0.0.1/", False),
        ("https://sub.xn--mnchen-3ya.de/", True), ("https://b.co.uk/", False), ("https://me.blogs.example/", True),
    ],
)  # fmt: skip
def test_a_domain_covers_what_is_below_it(tmp_path: Path, url: str, is_listed: bool) -> None:
    text = "a.example\n10.0.0.1\n2001:db8::1\nMünchen.de\nco.uk\ncom\n*.blogs.example\n"
    found = ready(tmp_path / "list.txt", "domains", text)
    assert (found.page_reason(url) is not None) is is_listed
    assert (found.lists[0].entries, found.lists[0].bad) == (5, 2)  # nobody owns co.uk and com


def test_a_hash_is_of_an_address_or_of_an_image(tmp_path: Path) -> None:
    url, image = "https://a.example/1.png", hashlib.sha256(b"an image").hexdigest()
    entries = [hashlib.sha256(url.encode()).hexdigest().upper(), f"sha256:{image}", "ff"]
    found = ready(tmp_path / "list.txt", "hashes", "\n".join(entries))
    assert found.page_reason(url) == found.content_reason(image) == "opt_out_mine"
    assert found.page_reason(url + "0") is found.content_reason("0" * 64) is None
    assert found.lists[0].bad == 1


def parquet(values: list[object], column: str = "url") -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({column: values}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "list.txt.gz",
            gzip.compress(b"https://a.example/1\n", mtime=0) + gzip.compress(b"https://a.example/2\n", mtime=0),
        ),
        ("list.zst", zstandard.compress(b"https://a.example/1\nhttps://a.example/2")),
        ("list.jsonl", b'{"url": "https://a.example/1"}\n"https://a.example/2"\n'),
        (
            "list.jsonl.gz",
            gzip.compress(b'{"url": "https://a.example/1"}\n{"url": "https://a.example/2", "x": 1}\n', mtime=0),
        ),
        ("list.parquet", parquet(["https://a.example/1", "https://a.example/2"])),
    ],
)
def test_each_form_of_file_is_read(tmp_path: Path, name: str, content: bytes) -> None:
    found = ready(tmp_path / name, "urls", content)
    assert all(found.page_reason(f"https://a.example/{n}") for n in (1, 2))
    assert (found.lists[0].entries, found.lists[0].bad) == (2, 0)


def test_another_column_can_be_named_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    content = parquet(["https://a.example/1"], "address")
    assert ready(tmp_path / "list.parquet", "urls", content, column="address").page_reason("http://a.example/1")
    with pytest.raises(UserError, match="no column url; valid for `column`: address"):
        ready(tmp_path / "list.parquet", "urls", content)


def test_a_list_is_about_what_it_says(tmp_path: Path) -> None:
    found = ready(tmp_path / "list.txt", "urls", "https://a.example/1\n", of=["images"])
    assert found.page_reason("https://a.example/1") is None
    assert found.image_reason("https://a.example/1") == "opt_out_mine"
    assert found.identity("pages") == []


def test_the_first_list_names_the_reason(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("a.example")
    config = OptOutListConfig(path=str(tmp_path / "list.txt"), kind="domains")
    found = prepare({"b": config, "a": config}, tmp_path / "made", {})
    assert found.page_reason("https://a.example/") == "opt_out_b"


def test_a_bad_line_costs_a_line(tmp_path: Path) -> None:
    bad = [b"\xff\xfe\x00", b"x" * (MAX_LINE + 1), b"y" * 5_000_000, b"ftp://a.example/", b"http://", b"javascript:0"]
    found = ready(tmp_path / "list.txt", "urls", b"\n".join([b"https://a.example/1", *bad, b"https://a.example/2"]))
    assert (found.lists[0].entries, found.lists[0].bad) == (2, len(bad))


@pytest.mark.parametrize(
    "line", ["[" * 10_000, '{"url": 1}', "null", '{"url": null}', '{"address": "https://a.example"}', '{"url"']
)
def test_a_bad_line_of_json_costs_a_line(tmp_path: Path, line: str) -> None:
    found = ready(tmp_path / "list.jsonl", "urls", f'{line}\n{{"url": "https://a.example/1"}}\n')
    assert (found.lists[0].entries, found.lists[0].bad) == (1, 1)


@pytest.mark.parametrize(
    ("name", "content", "more", "said"),
    [
        ("list.txt", b"a\x00b\nnonsense\n", {}, "none of the 2 lines"),
        ("list.gz", b"no gzip", {}, "none of the 1 lines"),
        ("list.gz", gzip.compress(b"https://a.example/" * 1000, mtime=0)[:60], {}, "damaged"),
        ("list.zst", zstandard.compress(b"https://a.example/" * 1000)[:20], {}, "damaged"),
        ("list.parquet", b"PAR1 no", {}, "not Parquet"),
        ("list.txt", b"https://a.example/1", {"sha256": "0" * 64}, "has the sha256"),
        (
            "list.gz",
            gzip.compress(b"\0" * 50_000_000, mtime=0),
            {"max_bytes": 1_000_000},
            "raise its max_bytes",
        ),
        ("list.zst", zstandard.compress(b"\0" * 50_000_000), {"max_bytes": 1_000_000}, "more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_is_no_list_stops_the_run_in_one_line(
    tmp_path: Path, name: str, content: bytes, more: dict[str, object], said: str
) -> None:
    with pytest.raises(UserError, match=said) as error:
        ready(tmp_path / name, "urls", content, **more)
    assert "\n" not in str(error.value)


def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    table = pa.table({"url": ["https://a.example/" + "x" * 1_000] * 5_000})  # some kilobytes as Parquet
    pq.write_table(table, tmp_path / "list.parquet")
    with pytest.raises(UserError, match="more than 1,000,000 bytes"):
        ready(tmp_path / "list.parquet", "urls", max_bytes=1_000_000)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"consent\.lists\.mine: .* cannot be read"):
        ready(tmp_path / "none.txt", "urls")


def test_a_list_counts_by_its_content_and_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ready(tmp_path / "list.txt", "urls", "https://a.example/1\n")
    (tmp_path / "other.txt").write_text("https://a.example/1\n")
    monkeypatch.setattr(lists, "_compile", None)  # whoever calls it now fails
    assert ready(tmp_path / "other.txt", "urls").identity("pages") == first.identity("pages")
    monkeypatch.undo()
    assert ready(tmp_path / "list.txt", "urls", "https://a.example/2\n").identity("pages") != first.identity("pages")


def test_an_empty_list_drops_nothing(tmp_path: Path) -> None:
    found = ready(tmp_path / "list.txt", "domains", "# nobody yet\n")
    assert found.page_reason("https://a.example/") is None


@given(st.lists(st.from_regex(r"[a-z]{1,3}\.(example|de)/[a-z]{0,2}", fullmatch=True)), st.text(max_size=30))
def test_a_list_finds_what_is_in_it_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, urls: list[str], other: str
) -> None:
    path = tmp_path_factory.mktemp("lists") / "list.jsonl"
    found = ready(path, "urls", "".join(json.dumps(f"https://{url}") + "\n" for url in urls))
    assert all(found.page_reason(f"http://www.{url}") for url in urls)
    assert found.page_reason(other) is None
