"""The command writes one file that loads nothing, the same for the same folder, and says in one line what it cannot."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.report.command import comparison_html, report_html
from obelics_pipeline.inspect.report.opened import open_run, read_run
from obelics_pipeline.inspect.run_tables.paragraphs import paragraph_tables
from tests.faults.runs import ROOT
from tests.inspect.explain.hostile import PAGE, URL, Elements
from tests.inspect.report.made import extracted
from tests.stages.read.warcs import record

ORDINARY = {"svg", "rect", "line", "text", "title", "details", "summary", "blockquote", "figure", "table", "a"}
MARK = "\u202e"  # turns the order of what follows


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["report", *arguments])
    out, line = capsys.readouterr()
    assert (code, out, line.count("\n")) == (2, "", 1), line
    return line


def check_harmless(html: str) -> Elements:
    """It loads nothing, runs nothing, and what it is styled by is what its policy knows."""
    page = Elements(html)
    for tag, attributes in page.found:
        assert tag not in ("script", "img", "link", "iframe", "object", "base", "form"), tag
        assert not {"style", "src", "srcset", "onclick", "onerror"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    (style,) = page.inside["style"]
    policy = next(a["content"] or "" for t, a in page.found if a.get("http-equiv") == "Content-Security-Policy")
    sha256 = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{sha256}'" in policy
    assert "url(" not in style
    assert "@import" not in style
    return page


def test_the_report_of_a_finished_run(capsys: pytest.CaptureFixture[str], run_of_demo: Path, tmp_path: Path) -> None:
    target = tmp_path / "new/report.html"
    assert main(["report", str(run_of_demo), "--output", str(target)]) == 0
    assert capsys.readouterr().out == f"wrote {target}\n"
    page = check_harmless(target.read_text(encoding="utf-8"))
    assert {tag for tag, _ in page.found} >= ORDINARY
    words = " ".join(page.text.split())
    run = open_run(str(run_of_demo))
    assert run.manifest is not None
    counts = run.manifest.counts()
    assert "Finished, and validated" in words
    assert f"documents in shards {counts['documents']}" in words
    assert f"images in shards {counts['images']}" in words
    for ledger in run.manifest.ledgers.values():
        assert all(reason in words for reason in (*ledger.dropped, *ledger.failed))
    for heading in ("Yield", "Scores of documents", "Paragraphs", "Images", "Duplicates", "Time and cost"):
        assert heading in words
    assert "languages bo, km, lo, my, th: drops nothing" in words
    kinds = Counter(run.documents["page_type"].to_pylist())
    assert len(kinds) > 3
    by_kind = words.partition("By kind of page")[2].partition("By month of capture")[0]
    assert all(f"{kind}{count}" in by_kind for kind, count in kinds.items())
    assert f"obelics explain {run_of_demo} " in words
    assert "× $0.0425 per virtual CPU and hour" in words
    assert "This is a sample" not in words


def test_the_same_folder_gives_the_same_bytes(run_of_demo: Path, tmp_path: Path) -> None:
    written = []
    for seed in ("1", "2"):
        target = tmp_path / f"{seed}.html"
        command = [sys.executable, "-m", "obelics_pipeline", "report", str(run_of_demo), "--output", str(target)]
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, check=True, env=environment, capture_output=True, timeout=120)
        written.append(target.read_bytes())
    assert written[0] == written[1]


def test_a_run_that_has_not_finished_shows_what_is_there(warcs: list[Path], tmp_path: Path) -> None:
    folder = extracted(tmp_path / "out", warcs[:1])
    assert main(["report", str(folder)]) == 0
    words = " ".join(check_harmless((folder / "report.html").read_text(encoding="utf-8")).text.split())
    assert "This run has not finished." in words
    assert "No document has met its images yet." in words
    assert "The event log says nothing." in words
    assert "documents kept so far" in words


def test_a_run_that_lost_documents_on_the_way_says_so(run_of_demo: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(run_of_demo, tmp_path / "out", ignore=shutil.ignore_patterns("images"))
    (folder / "manifest.json").unlink()
    gone = sorted((folder / "assembled/manifests").iterdir())[0]
    gone.unlink()
    words = " ".join(Elements(report_html(open_run(str(folder)))).text.split())
    assert "This run has not finished." in words
    assert "not there yet, or lost with a unit that failed" in words
    assert "Distinct image URLs that were asked for, so far" in words


def test_a_sample_is_called_one(warcs: list[Path], tmp_path: Path) -> None:
    folder = extracted(tmp_path / "out", warcs[:1], everything=True)
    words = " ".join(Elements(report_html(open_run(str(folder)))).text.split())
    assert "This is a sample: a part of the input (--sample 0.25) was read." in words
    assert "of a sample all are measured" in words


def test_a_sample_is_told_by_the_units_that_were_read_and_not_by_the_share_asked_for(
    warcs: list[Path], sampled_run: Path
) -> None:
    sample = read_run(str(sampled_run))
    read = len(list((sampled_run / "extract/manifests").iterdir()))
    units = sum(-(-path.stat().st_size // 60_000) for path in warcs)  # as tests.sampled cuts the demo's files
    assert sample.sample_read == f"{read} of {units} units of the input (--sample 0.6)"


def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    """In a dropped document, a dropped paragraph, a URL and a host."""
    long = "x" * 1_000_000
    pages = [PAGE.encode(), PAGE.replace("It was", f"{MARK}gpj.exe {long} It was").encode()]
    warc = tmp_path / "hostile.warc"
    targets = (URL, f"http://evil.example/{MARK}{long[:5000]}")
    warc.write_bytes(b"".join(record(page, url) for page, url in zip(pages, targets, strict=True)))
    sets = ["filters.document.word_count.min=100000", "filters.paragraph.word_count.min=10"]
    folder = extracted(tmp_path / "out <script>x()</script>", [warc], sets)
    html = report_html(open_run(str(folder)))
    assert len(html) < 300_000
    assert MARK not in html
    page = check_harmless(html)
    assert "⟨U+202E⟩" in page.text
    assert "<script>x()</script>" in page.text
    assert "<img src=http://evil.example/a.gif onerror=x()>" in page.text
    assert "{{ 7 * 7 }}" in page.text


def test_two_runs_of_one_input_side_by_side(warcs: list[Path], tmp_path: Path) -> None:
    here = extracted(tmp_path / "here", warcs[:1], ["filters.document.word_count.min=200"])
    there = extracted(tmp_path / "there", warcs[:1], ["filters.document.image_count.min=3"])
    assert main(["report", str(here), "--against", str(there)]) == 0
    words = " ".join(check_harmless((here / "report-against.html").read_text(encoding="utf-8")).text.split())
    assert "filters.document.word_count.min: 10.0 -> 200.0" in words
    assert "filters.document.image_count.min: 3.0 -> 1.0" in words
    assert "Input The same in both." in words
    kept = [set(run.documents.filter(run.documents["reason"].is_null())["doc_id"].to_pylist()) for run in
            (open_run(str(here)), open_run(str(there)))]  # fmt: skip
    assert f"{len(kept[0] & kept[1])} are kept by both" in words
    assert f"Kept only here: {len(kept[0] - kept[1])} image_count (extract) in the other run" in words
    assert f"Kept only there: {len(kept[1] - kept[0])} word_count (extract) in the first run" in words
    assert f"obelics explain {here} " in words


def test_a_run_against_itself_differs_in_nothing(run_of_demo: Path) -> None:
    run = open_run(str(run_of_demo))
    words = " ".join(Elements(comparison_html(run, run)).text.split())
    assert "Config, there → here The same in both." in words
    assert "Kept only here: 0 None." in words


def test_runs_of_other_input_have_no_document_in_common(warcs: list[Path], tmp_path: Path) -> None:
    here, there = (extracted(tmp_path / str(i), [path]) for i, path in enumerate(warcs))
    words = " ".join(Elements(comparison_html(open_run(str(here)), open_run(str(there)))).text.split())
    assert "The runs have no document in common" in words
    assert "only here 1: demo-00000" in words


def test_a_run_in_an_object_store_is_read_and_written_there(s3: str, warcs: list[Path], tmp_path: Path) -> None:
    folder, bucket = extracted(tmp_path / "out", warcs[:1]), fsspec.filesystem("s3")
    bucket.makedirs("reported")
    bucket.put(str(folder), "reported/out", recursive=True)
    assert main(["report", str(folder)]) == 0
    assert main(["report", "s3://reported/out"]) == 0
    local = (folder / "report.html").read_text(encoding="utf-8")
    assert bucket.cat_file("reported/out/report.html").decode() == local.replace(str(folder), "s3://reported/out")


def test_a_file_that_is_damaged_or_gone_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], warcs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = extracted(tmp_path / "out", warcs[:1])
    data = next((folder / "extract").glob("*.parquet"))

    def gone(run: RunFolder, documents: pa.Table) -> Iterator[pa.Table]:
        data.rename(tmp_path / data.name)
        yield from paragraph_tables(run, documents)

    with monkeypatch.context() as patch:
        patch.setattr("obelics_pipeline.inspect.report.command.paragraph_tables", gone)
        assert "went while it was read" in refused(capsys, str(folder))
    data.write_bytes(b"x" * (tmp_path / data.name).stat().st_size)
    assert main(["report", str(folder)]) == 3
    out, line = capsys.readouterr()
    assert (out, line.count("\n")) == ("", 1)
    assert f"{data}: differs from what the run wrote" in line


def test_what_cannot_be_done_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], warcs: list[Path], tmp_path: Path
) -> None:
    folder = str(extracted(tmp_path / "out", warcs[:1]))
    assert "not the folder of a run" in refused(capsys, str(tmp_path / "nowhere"))
    assert "--against" in refused(capsys, folder, "--against", str(tmp_path / "nowhere"))
    (tmp_path / "file").touch()
    assert "cannot be written" in refused(capsys, folder, "--output", str(tmp_path / "file/report.html"))
    (tmp_path / "out/config.yaml").unlink()
    assert "config.yaml is missing" in refused(capsys, folder)
