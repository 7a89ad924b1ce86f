"""The command finds a record in a run, in a WARC file or in a file of its own, and says in one line what it cannot."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.manifest import read_manifest, write_manifest
from obelics_pipeline.inspect.explain import in_run
from obelics_pipeline.inspect.explain.command import explain
from obelics_pipeline.inspect.explain.in_run import find_in_run
from tests.inspect.explain.hostile import PAGE, Elements
from tests.stages.extract.written_pages import forum, page
from tests.stages.read.warcs import record

KEPT = "http://longwayround.example/journeys/slow-train/"
LOST_IMAGE = "http://brokenframe.example/three-of-four.html"


@pytest.fixture
def run(run_of_demo: Path) -> Path:
    return run_of_demo


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["explain", *arguments])
    out, line = capsys.readouterr()
    assert (code, line) == (0, "")
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["explain", *arguments])
    out, line = capsys.readouterr()
    assert (code, out, line.count("\n")) == (2, "", 1), line
    return line


def test_a_document_of_a_run_is_told_from_its_bytes_to_its_shard(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    explanation = explain(str(run), LOST_IMAGE)
    doc_id = explanation.documents[0].doc_id
    out = said(capsys, str(run), doc_id)
    words = " ".join(out.split())
    assert LOST_IMAGE in words
    assert f"document {doc_id} outcome kept" in words
    assert "texts 5 of 5 kept" in words
    assert "images 3 of 4 kept" in words  # one could not be fetched
    assert "too_many_redirects image" in words
    assert "extracted kept in the corpus kept on its site kept with images kept stands in shard-" in words
    assert "word_count 156 >= 10 ok" in words
    assert "DIFFERS" not in words


def test_every_record_with_a_url_is_told_as_the_run_decided_it(run: Path) -> None:
    """Kept or dropped, and why: what is found anew is what the run found."""
    rows = [row for path in sorted((run / "extract/records").iterdir()) for row in pq.read_table(path).to_pylist()]
    one_of_each = {row["reason"]: row for row in rows if row["url"] and row["url"].count("fieldwiki") == 0}
    assert len(one_of_each) > 6
    for row in one_of_each.values():
        explanation = explain(str(run), row["url"])
        assert (explanation.record.offset, explanation.reason) == (row["warc_record_offset"], row["reason"])
        assert len(explanation.documents) == row["documents"]
        assert all(fate.extracted is not None for fate in explanation.fates.values())


def test_another_config_shows_what_would_change(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    words = " ".join(said(capsys, str(run), KEPT, "--set", "filters.document.word_count.min=100000").split())
    assert "dropped: word_count" in words
    assert ">= 100000 DROPS" in words
    assert "extracted kept; DIFFERS" in words
    assert "punctuation_ratio" in words
    assert "punctuation_ratio not measured" not in words


def test_each_text_and_picture_of_a_thread_has_the_number_of_its_post(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = "<img src=/rope.jpg width=640 height=480>"
    path = tmp_path / "page.html"
    path.write_text(page(forum(8).replace("<p>Answer 3.", f"{picture}<p>Answer 3.")), encoding="utf-8")
    lines = said(capsys, str(path), "https://www.example.com/threads/rope.12/").splitlines()
    words = [" ".join(line.split()) for line in lines]
    for number in range(8):
        assert any(line.startswith(f"kept paragraph, post {number} ") and f"Answer {number}." in line for line in words)
    assert any(line.startswith("kept image inline, post 3 https://www.example.com/rope.jpg") for line in words)
    assert any(line.startswith("kept headline Which rope") for line in words)


@pytest.fixture
def of_before(run: Path, tmp_path: Path) -> Path:
    """The run without look-ups."""
    copy = Path(shutil.copytree(run, tmp_path / "run", ignore=shutil.ignore_patterns("images")))
    shutil.rmtree(copy / "look-up")
    write_manifest(copy, replace(read_manifest(copy), look_up=()))
    return copy


def test_the_record_is_the_same_with_a_look_up_and_without(run: Path, of_before: Path) -> None:
    rows = pq.read_table(run / "index.parquet").to_pylist()
    for which in [rows[0]["doc_id"], *(row["url"] for row in rows[::7])]:
        found, scanned = find_in_run(RunFolder(run), which), find_in_run(RunFolder(of_before), which)
        assert scanned.scanned == f"{of_before}: has no look-up: its index is read whole"
        assert found == replace(scanned, scanned="", others=found.others)
        assert (found.others is None) == (which == found.url)


def test_a_record_of_a_document_in_the_shards_is_found_in_its_unit_alone(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_run, "_manifests", lambda _: iter(()))
    row = pq.read_table(run / "index.parquet").to_pylist()[-1]
    assert find_in_run(RunFolder(run), row["url"]).offset == row["warc_record_offset"]
    assert find_in_run(RunFolder(run), row["doc_id"]).doc_id == row["doc_id"]


def test_several_records_of_one_url_are_named(run: Path, of_before: Path) -> None:
    url = "http://fieldwiki.example/wiki/Tide.html"
    found = find_in_run(RunFolder(of_before), url)
    assert found.outcome == "kept"
    assert len(found.others or ()) == 1
    assert replace(find_in_run(RunFolder(run), url), others=found.others, scanned=found.scanned) == found


def test_what_was_never_seen_is_said_in_one_line(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    assert "this URL is not among" in refused(capsys, str(run), "http://nowhere.example/")
    assert "no document has this id" in refused(capsys, str(run), "0" * 32)
    assert "say which record" in refused(capsys, str(run))


def test_a_folder_that_is_no_run_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "not the folder of a run" in refused(capsys, str(tmp_path), KEPT)
    assert "no such folder or file" in refused(capsys, str(tmp_path / "nowhere"))


def test_a_warc_that_is_gone_can_be_named_anew(
    capsys: pytest.CaptureFixture[str], run: Path, warcs: list[Path], tmp_path: Path
) -> None:
    """The log is all that knows where the files were."""
    moved = tmp_path / "out"
    shutil.copytree(run, moved)
    started = {"event": "run_started", "inputs": [str(tmp_path / "gone" / path.name) for path in warcs]}
    (moved / "events.jsonl").write_text(json.dumps(started) + "\n")
    assert "--input" in refused(capsys, str(moved), KEPT)
    assert KEPT in said(capsys, str(moved), KEPT, "--input", *map(str, warcs))


def test_another_file_in_its_place_is_not_taken_for_it(
    capsys: pytest.CaptureFixture[str], run: Path, warcs: list[Path], tmp_path: Path
) -> None:
    for path in warcs:
        (tmp_path / path.name).write_bytes(record(b"<p>other", "http://other.example/", compressed=True))
    line = refused(capsys, str(run), KEPT, "--input", *(str(tmp_path / path.name) for path in warcs))
    assert "not the one that was read" in line


def test_records_that_a_pointer_table_names_are_found_in_their_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = {n: record(b"gone", f"http://site.example/{n}", status="404 Not Found", compressed=True) for n in (1, 2)}
    page = record(PAGE.encode(), "http://site.example/1", compressed=True)
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "a.warc.gz").write_bytes(missing[1] + page + missing[2])
    places = [
        ("http://site.example/1", 0, len(missing[1])),
        ("http://site.example/1", len(missing[1]), len(page)),
        ("http://site.example/2", len(missing[1]) + len(page), len(missing[2])),
    ]
    names = ("url", "warc_record_offset", "warc_record_length")
    rows = [dict(zip(names, place, strict=True), warc_filename="crawl/a.warc.gz") for place in places]
    table, output = tmp_path / "pointers.parquet", tmp_path / "out"
    pq.write_table(pa.Table.from_pylist(rows), table)
    sets = ["--set", f"reading.pointer_root={tmp_path}", "--set", "fetch.enabled=false", "--workers", "1"]
    assert main(["run", "default", "--input", str(table), "--output", str(output), *sets]) == 0
    capsys.readouterr()
    out = said(capsys, str(output), "http://site.example/1")
    assert str(tmp_path / "crawl" / "a.warc.gz") in out
    assert "nobody in the village" in out  # the one that was kept
    assert "at byte 0" in out  # the other one
    assert "dropped: http_404" in said(capsys, str(output), "http://site.example/2")


def test_a_page_of_a_warc_file_by_url_by_offset_and_when_it_is_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first, second = (record(PAGE.encode(), f"http://site.example/{n}", compressed=True) for n in (1, 2))
    both, alone = tmp_path / "both.warc.gz", tmp_path / "alone.warc.gz"
    both.write_bytes(first + second)
    alone.write_bytes(first)
    assert "http://site.example/1" in said(capsys, str(alone))
    assert "http://site.example/2" in said(capsys, str(both), "http://site.example/2")
    assert "http://site.example/2" in said(capsys, str(both), str(len(first)))
    assert "http://site.example/2" in refused(capsys, str(both))
    assert "no response of this URL" in refused(capsys, str(both), "http://site.example/3")
    assert "no record begins here" in refused(capsys, str(both), "7")


def test_a_file_is_a_page_and_html_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page, shown = tmp_path / "page.htm", tmp_path / "shown.html"
    page.write_text(PAGE)
    out = said(capsys, str(page), "http://site.example/", "--html", str(shown))
    assert "%22onerror" in out
    assert "\u202e" not in out
    assert "nobody in the village" in Elements(shown.read_text("utf-8")).text
    assert "cannot be written" in _error(capsys, str(page), "--html", str(tmp_path / "page.htm" / "x.html"))


def _error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 2
    return capsys.readouterr().err
