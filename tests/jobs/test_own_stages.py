"""A stage of a user's own is a stage: of a run, its ledger, its report, explain, check and forget."""

import io
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.inspect.check.command import check
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.jobs.stages import STAGES, names_of
from tests.faults.runs import ROOT
from tests.small import SENTENCE, SETS, THINGS, arguments, page, write_warc
from tests.stages.read.warcs import record

EXAMPLE = ROOT / "examples" / "shouting.py"
SHOUT = page("bench").replace(SENTENCE.format("bench"), SENTENCE.format("bench").upper())
URL = "https://loud.example/sale"


def use(path: Path = EXAMPLE, after: str = "site") -> str:
    return f"stages=[{{use: '{path}:SHOUTING', after: {after}}}]"


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    """Pages about things, and one that shouts."""
    path = write_warc(tmp_path / "pages.warc.gz")
    with path.open("ab") as file:
        file.write(record(SHOUT.encode(), URL))
    return path


def index(output: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = pq.read_table(output / "index.parquet").to_pylist()
    return rows


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 40


def test_the_ledger_the_report_and_explain_know_the_stage(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(arguments([warc], output, use())) == 0
    ledger = read_manifest(output).ledgers["documents"]
    assert (ledger.entered, ledger.kept, dict(ledger.dropped)) == (7, 6, {"shouting": 1})
    assert [0 <= float(str(row["upper_case_share"])) < 0.1 for row in index(output)] == [True] * len(THINGS)
    assert main(["report", str(output)]) == 0
    html = (output / "report.html").read_text(encoding="utf-8")
    assert "Less the pages that shout" in html
    assert "most of its words are in capitals" in html
    assert "a column of your own stage, whose code says what it drops" in html
    capsys.readouterr()
    assert main(["explain", str(output), URL]) == 0
    told = capsys.readouterr().out
    assert "dropped: shouting" in told
    assert "most of its words are in capitals" in told
    assert re.search("upper_case_share +0.9474\n", told)


def test_check_measures_the_stage(warc: Path, tmp_path: Path) -> None:
    shown, found = io.StringIO(), tmp_path / "found.json"
    console = Console(file=shown, width=200)
    sets = [*SETS, use()]
    assert check("default", [str(warc)], str(tmp_path / "out"), "local", 1, sets, json_file=found, console=console) == 0
    assert "shouting" in shown.getvalue()
    stages = json.loads(found.read_text())["estimate"]["stages"]
    assert "shouting" in [stage["stage"] for stage in stages]
    assert re.search("after shouting, at most +6", shown.getvalue())


def test_units_are_done_again_where_the_source_changes_and_only_then(warc: Path, tmp_path: Path) -> None:
    mine, output = tmp_path / "mine.py", tmp_path / "out"
    mine.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    assert main(arguments([warc], output, use(mine))) == 0
    extracted, judged = (set((output / name / "manifests").iterdir()) for name in ("extract", "shouting"))
    assert main([*arguments([warc], output, use(mine)), "--yes"]) == 0
    assert set((output / "shouting" / "manifests").iterdir()) == judged
    mine.write_text(mine.read_text(encoding="utf-8").replace("MOST = 0.3", "MOST = 2.0"), encoding="utf-8")
    assert main([*arguments([warc], output, use(mine)), "--yes"]) == 0
    assert not set((output / "shouting" / "manifests").iterdir()) & judged
    assert set((output / "extract" / "manifests").iterdir()) == extracted
    assert len(index(output)) == 7


def test_what_a_stage_made_goes_where_the_config_names_it_no_more(warc: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert main(arguments([warc], output, use())) == 0
    assert "shouting" in names_of(stages_in(RunFolder(output)))
    assert main([*arguments([warc], output), "--yes"]) == 0
    assert stages_in(RunFolder(output)) == STAGES
    assert not [path for path in (output / "shouting").rglob("*") if path.is_file()]
    assert len(index(output)) == 7


def test_who_looks_at_a_run_runs_none_of_its_code(warc: Path, tmp_path: Path) -> None:
    mine, output = tmp_path / "mine.py", tmp_path / "out"
    mine.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    assert main(arguments([warc], output, use(mine))) == 0
    mine.write_text("raise SystemExit('was run')\n", encoding="utf-8")
    assert main(["report", str(output)]) == 0
    assert main(["explain", str(output), URL]) == 0


def test_a_document_that_the_judge_cannot_judge_is_one_that_failed(warc: Path, tmp_path: Path) -> None:
    mine, output = tmp_path / "mine.py", tmp_path / "out"
    text = EXAMPLE.read_text(encoding="utf-8")
    mine.write_text(text.replace("    share = ", "    assert 'LONG' not in words\n    share = "), encoding="utf-8")
    assert main(arguments([warc], output, use(mine))) == 0
    ledger = read_manifest(output).ledgers["documents"]
    assert (ledger.entered, ledger.kept, dict(ledger.failed)) == (7, 6, {"measuring_error_AssertionError": 1})


def test_what_is_forgotten_leaves_the_folder_of_the_stage(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, urls = tmp_path / "out", tmp_path / "urls.txt"
    assert main(arguments([warc], output, use())) == 0
    urls.write_text("https://pages.example/ladder\n", encoding="utf-8")
    assert main(["forget", str(output), "--urls", str(urls)]) == 0
    held = [pq.read_table(path)["texts"].to_pylist() for path in (output / "shouting").glob("*.parquet")]
    assert held
    assert "ladder" not in str(held)
    assert main(["validate", str(output)]) == 0
    capsys.readouterr()
    assert main(arguments([warc], output, use())) == 0
    assert "nothing to do" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("nowhere.py:STAGE", "nowhere.py cannot be read (No such file or directory)"),
        ("no_such_module:STAGE", "module no_such_module is not installed"),
        ("unheard", "no installed stage has this name"),
        (f"{EXAMPLE}:OTHER", "has no OTHER; it has SHOUTING"),
        (f"{EXAMPLE}:MOST", "is no Stage"),
    ],
)
def test_what_is_no_stage_is_refused_in_one_line(
    value: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(["x"], tmp_path / "out", f"stages=[{{use: '{value}'}}]")) == 2
    line = capsys.readouterr().err
    assert told in line
    assert line.count("\n") == 1


@pytest.mark.parametrize("text", ["raise SystemExit('was run')", "1 / 0"])
def test_a_file_that_ends_the_program_or_fails_is_refused_in_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(f"{text}\n", encoding="utf-8")
    assert main(arguments(["x"], tmp_path / "out", use(mine))) == 2
    line = capsys.readouterr().err
    assert "mine.py" in line and line.count("\n") == 1


@pytest.mark.parametrize("after", ["extract", "fetch", "assemble", "nothing"])
def test_a_place_where_no_own_stage_can_stand_is_refused(
    after: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(["x"], tmp_path / "out", use(after=after))) == 2
    assert "valid are dedup, site, consent" in capsys.readouterr().err


def test_a_name_that_a_run_uses_itself_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.py"
    for name, told in (
        ("shards", "is taken"),
        ("site", "is taken"),
        ("revisions", "is taken"),
        ("../out", "must be small letters"),
    ):
        text = EXAMPLE.read_text(encoding="utf-8").replace('name="shouting"', f'name="{name}"')
        mine.write_text(text, encoding="utf-8")
        assert main(arguments(["x"], tmp_path / "out", use(mine))) == 2
        assert told in capsys.readouterr().err


def test_a_column_that_another_stage_measures_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(EXAMPLE.read_text(encoding="utf-8").replace("upper_case_share", "word_count"), encoding="utf-8")
    assert main(arguments(["x"], tmp_path / "out", use(mine))) == 2
    assert "extract and shouting measure a column of one name, word_count" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["ray", "beam"])
def test_other_engines_make_the_same(warc: Path, tmp_path: Path, engine: str) -> None:
    assert main(arguments([warc], tmp_path / "here", use())) == 0
    few = "ray.shuffle_partitions=4"  # tasks of a shuffle
    assert main([*arguments([warc], tmp_path / "there", use(), few), "--engine", engine]) == 0
    assert index(tmp_path / "there") == index(tmp_path / "here")
    assert read_manifest(tmp_path / "there").ledgers["documents"].dropped == {"shouting": 1}
