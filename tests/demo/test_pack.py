"""The WARC files of the demo: the same bytes each time, one gzip member per record, as a crawler writes them."""

import gzip
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from obelics_pipeline.demo.pack import DAMAGE, NAMES, pack
from obelics_pipeline.demo.pages import pages, peculiarities


def test_packing_twice_gives_the_same_bytes(warcs: list[Path], tmp_path: Path) -> None:
    again = pack(tmp_path)
    assert [path.name for path in again] == list(NAMES)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in warcs]


def test_packing_again_leaves_the_files_as_they_are(tmp_path: Path) -> None:
    before = [path.stat().st_mtime_ns for path in pack(tmp_path)]
    assert [path.stat().st_mtime_ns for path in pack(tmp_path)] == before


def test_a_damaged_file_is_packed_anew(warcs: list[Path], tmp_path: Path) -> None:
    path = pack(tmp_path)[0]
    path.write_bytes(b"half a file")
    pack(tmp_path)
    assert path.read_bytes() == warcs[0].read_bytes()


def test_every_page_and_every_other_record_is_packed_once(warcs: list[Path]) -> None:
    whole = next(path for path in warcs if DAMAGE not in path.read_bytes())
    with whole.open("rb") as stream:
        records = [r.rec_headers for r in ArchiveIterator(stream)]
    ids = [headers.get_header("WARC-Record-ID") for headers in records]
    assert len(set(ids)) == len(ids)
    seen = [(headers.get_header("WARC-Type"), headers.get_header("WARC-Target-URI")) for headers in records]
    answers = {url for kind, url in seen if kind in ("response", "revisit")}
    known = {page.url for page in pages()} | {record["url"] for record in peculiarities()["records"].values()}
    assert answers <= known
    assert len(answers) > 30
    assert all({("request", url), ("metadata", url)} <= set(seen) for url in answers)


def test_exactly_one_member_is_damaged(warcs: list[Path]) -> None:
    assert sum(path.read_bytes().count(DAMAGE) for path in warcs) == 1


def test_every_record_is_a_gzip_member_of_its_own(warcs: list[Path]) -> None:
    whole = next(path for path in warcs if DAMAGE not in path.read_bytes())
    with gzip.open(whole) as stream:
        records = stream.read().count(b"WARC/1.0\r\n")
    assert whole.read_bytes().count(b"\x1f\x8b\x08") >= records


def test_the_files_hold_no_trace_of_the_clock(warcs: list[Path]) -> None:
    whole = next(path for path in warcs if DAMAGE not in path.read_bytes())
    with whole.open("rb") as stream:
        dates = {r.rec_headers.get_header("WARC-Date") for r in ArchiveIterator(stream)}
    assert dates == {"2031-05-04T06:00:00Z"}


def test_a_page_that_was_sent_compressed_is_stored_compressed(warcs: list[Path]) -> None:
    whole = next(path for path in warcs if DAMAGE not in path.read_bytes())
    wanted = {page.url: page for page in pages() if page.gzip and not page.chunked}
    with whole.open("rb") as stream:
        stored = {
            r.rec_headers.get_header("WARC-Target-URI"): r.raw_stream.read()
            for r in ArchiveIterator(stream)
            if r.rec_type == "response" and r.rec_headers.get_header("WARC-Target-URI") in wanted
        }
    assert stored
    assert {url: gzip.decompress(body) for url, body in stored.items()} == {u: wanted[u].body for u in stored}
