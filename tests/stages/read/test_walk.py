"""Ranges: whatever the cuts, each record of a file is in exactly one of them, in order."""

from __future__ import annotations

import gzip
import itertools
import struct
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.stages.read import member
from obelics_pipeline.stages.read.page import Page, Skipped
from tests.stages.read.warcs import failures, gz, html, numbers, pages, read, record, url, with_length, write, zst

PLAIN = pages(24)
LIAR = record(  # a page whose text imitates the beginning of a record
    html(0) + b"\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://evil.example/666\r\n"
    b"Content-Length: 40\r\n\r\nHTTP/1.1 200 OK\r\n\r\n<html>fake</html>\r\n\r\n",
    url(99),
)
ASIDE = [record(kind="request", target=url(5)), record(b"k: v", url(5), "metadata")]
FIRST = [record(kind="warcinfo", target=None), *PLAIN[:5], LIAR, *ASIDE]
MIXED = [*FIRST, *PLAIN[5:12], with_length(PLAIN[12], 100), *PLAIN[13:]]
DICTIONARY = zstandard.train_dictionary(4096, [page[:600] for page in pages(200)])


def dictionary_frame(compressed: bool) -> bytes:
    data = DICTIONARY.as_bytes()
    data = zstandard.ZstdCompressor().compress(data) if compressed else data
    return struct.pack("<II", 0x184D2A5D, len(data)) + data


FILES = {
    "members.warc.gz": gz(MIXED),
    "damaged.warc.gz": [part[:-30] if number in (0, 7, 23) else part for number, part in enumerate(gz(MIXED))],
    "padded.warc.gz": [gzip.compress(b""), *gz(MIXED[:9]), gzip.compress(b"\r\n\r\n"), *gz(MIXED[9:])],
    "together.warc.gz": gz([b"".join(MIXED[:6]), *MIXED[6:14], b"".join(MIXED[14:])]),
    "plain.warc": MIXED,
    "frames.warc.zst": zst(MIXED),
    "dictionary.warc.zst": [dictionary_frame(True), *zst(MIXED, DICTIONARY)],
    "raw-dictionary.warc.zst": [dictionary_frame(False), *zst(MIXED, DICTIONARY)],
}
EXPECTED = [*range(5), 99, *range(5, 24)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("walk")
    for name, members in FILES.items():
        write(place, name, members)
    return place


@pytest.mark.parametrize("name", [name for name in FILES if name != "damaged.warc.gz"])
def test_every_record_is_read_once_in_order(folder: Path, name: str) -> None:
    items = read(folder / name)
    assert numbers(items) == EXPECTED
    assert failures(items) == []
    assert [item.reason for item in items if isinstance(item, Skipped)] == ["warcinfo", "request", "metadata"]


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25)
@given(data=st.data())
def test_any_cuts_give_what_the_whole_gives(folder: Path, name: str, data: st.DataObject) -> None:
    path = folder / name
    size = path.stat().st_size
    cuts = sorted(data.draw(st.lists(st.integers(0, size), min_size=1, max_size=6)))
    pieces = [item for start, end in itertools.pairwise([0, *cuts, size]) for item in read(path, start, end)]
    assert pieces == whole(path)


WHOLE: dict[Path, list[Page | Skipped]] = {}


def whole(path: Path) -> list[Page | Skipped]:
    if path not in WHOLE:
        WHOLE[path] = read(path)
    return WHOLE[path]


@pytest.mark.parametrize("name", ["members.warc.gz", "plain.warc", "frames.warc.zst"])
def test_a_cut_at_each_record_start_gives_one_record_per_range(folder: Path, name: str) -> None:
    starts = list(itertools.accumulate(map(len, FILES[name]), initial=0))
    for number, (start, end) in enumerate(itertools.pairwise(starts)):
        assert len(read(folder / name, start, end)) == 1, number


@pytest.mark.parametrize("name", ["members.warc.gz", "frames.warc.zst", "dictionary.warc.zst", "plain.warc"])
def test_offset_and_length_are_those_of_the_compressed_record(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    starts = list(itertools.accumulate(map(len, FILES[name]), initial=0))[-len(MIXED) - 1 :]
    found = [(item.offset, item.length) for item in read(folder / name)]
    assert found == [(start, end - start) for start, end in itertools.pairwise(starts)]
    assert starts[-1] == len(data)


def test_records_of_one_member_share_its_offset_and_are_told_apart_by_ordinal(folder: Path) -> None:
    items = [item for item in read(folder / "together.warc.gz") if isinstance(item, Page)]
    first = len(FILES["together.warc.gz"][0])
    assert [(item.offset, item.length, item.ordinal) for item in items[:5]] == [(0, first, n) for n in range(1, 6)]
    assert len({(item.offset, item.ordinal) for item in items}) == len(items)


def test_a_large_single_member_is_read_in_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "KEPT_BYTES", 1 << 16)
    monkeypatch.setattr(member, "WINDOW_BYTES", 1 << 16)
    records = [record(html(number, 3_000), url(number)) for number in range(40)]
    records[5] = with_length(records[5], 10**9)
    path = write(tmp_path, "one.warc.gz", [gzip.compress(b"".join(records), 1)])
    items = read(path)
    assert numbers(items) == list(range(40))
    assert [item.html for item in items if isinstance(item, Page)] == [html(n, 3_000).decode() for n in range(40)]


def test_a_page_that_imitates_a_record_gives_none(folder: Path) -> None:
    for name in ("plain.warc", "members.warc.gz"):
        assert not [item for item in read(folder / name) if isinstance(item, Page) and "evil" in item.url]


def test_headers_with_bare_line_feeds_and_odd_spacing_are_read(tmp_path: Path) -> None:
    odd = [part.replace(b"\r\n", b"\n") for part in PLAIN[:3]]
    odd += [part.replace(b"WARC-Type: response", b"warc-type:   response  ") for part in PLAIN[3:6]]
    odd += [part[:-4] for part in PLAIN[6:8]]
    odd += [b"\r\n" + part for part in PLAIN[8:10]]
    for pack, name in ((gz, "odd.warc.gz"), (zst, "odd.warc.zst")):
        assert numbers(read(write(tmp_path, name, pack(odd)))) == list(range(10))


def test_a_file_name_may_hold_spaces_and_any_script(tmp_path: Path) -> None:
    place = tmp_path / "mit Leerzeichen" / "日本 语"
    place.mkdir(parents=True)
    assert numbers(read(write(place, "ü #1 %20.warc.gz", gz(PLAIN)))) == list(range(24))


def test_a_file_of_the_wrong_suffix_is_read_by_its_content(tmp_path: Path) -> None:
    assert numbers(read(write(tmp_path, "a.warc.gz", PLAIN))) == list(range(24))
    assert numbers(read(write(tmp_path, "b.warc", gz(PLAIN)))) == list(range(24))
    assert failures(read(write(tmp_path, "empty.warc.gz", []))) == ["no_record"]


def test_a_huge_body_is_skipped_without_being_held(tmp_path: Path) -> None:
    huge = record(b"<html>" + bytes(8 * 2**20), url(7))
    for suffix, pack in (("warc.gz", gz), ("warc", list), ("warc.zst", zst)):
        items = read(write(tmp_path, f"x.{suffix}", pack([PLAIN[0], huge, PLAIN[1]])))
        assert numbers(items) == [0, 1]
        assert [item.reason for item in items if isinstance(item, Skipped)] == ["page_too_large"]
