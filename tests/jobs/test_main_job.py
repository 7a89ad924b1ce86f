"""The first mistakes a person makes each get one line that says what to do; the main job keeps its promises."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.jobs.main_job import run
from tests.faults.inline import runs_inline
from tests.faults.runs import HASTE, ROOT, command, events, finish, published, tree
from tests.stages.read.warcs import gz, pages
from tests.stages.site.farms import Here

TEXT_ONLY = ["fetch.enabled=false"]


@pytest.fixture
def done(run_of_demo: Path) -> Path:
    return run_of_demo


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """What a wrong command prints: one line."""
    try:
        found: object = main(arguments)
    except SystemExit as stop:
        found = stop.code
    line = capsys.readouterr().err
    assert (found, line.count("\n")) == (code, 1), line
    return line


def test_a_wrong_path(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = said(capsys, "run", "default", "--input", "nowhere/x.warc.gz", "--output", str(tmp_path / "o"))
    assert "nowhere/x.warc.gz" in line
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("filters.docment.x=1", "did you mean document?"),
        ("filters.document.word_count={min: 9, max: 1}", "nothing would be kept"),
        ("filters.document.wordcount={min: 9}", "did you mean word_count?"),
        ("language.model=/no/lid.bin", "/no/lid.bin"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_to_do(
    setting: str, told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert told in said(capsys, "run", "default", "--input", "x", "--output", str(tmp_path / "o"), "--set", setting)


def test_the_output_of_another_config(capsys: pytest.CaptureFixture[str], done: Path, warcs: list[Path]) -> None:
    line = said(capsys, "run", "obelics", "--input", str(warcs[0]), "--output", str(done))
    assert "--force" in line
    assert "default" in line


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("fly",),
        ("run",),
        ("run", "default", "--input", "x"),
        ("run", "default", "--input", "x", "--output", "o", "--workers", "0"),
        ("run", "default", "--input", "x", "--output", "o", "--workers", "many"),
        ("run", "default", "--input", "x", "--output", "o", "--stage", "fly"),
        ("run", "no-such-config", "--input", "x", "--output", "o"),
        ("validate", "nowhere"),
        ("export", "nowhere", "--format", "parquet"),
        ("export", "nowhere", "--format", "csv"),
    ],
)
def test_a_wrong_command_is_one_line_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_help_needs_none_of_the_heavy_packages() -> None:
    code = "import sys; from obelics_pipeline.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    heavy = "{'pyarrow', 'numpy', 'pydantic', 'rich', 'duckdb', 'selectolax', 'PIL', 'img2dataset', 'datasets'}"
    check = f"assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code + check], check=True, capture_output=True, cwd=ROOT)


def test_records_documents_and_images_are_conserved(done: Path) -> None:
    manifest = json.loads((done / "manifest.json").read_text())
    for noun in ("records", "documents", "images", "urls"):
        ledger = manifest["ledgers"][noun]
        assert ledger["in"] == ledger["kept"] + sum(ledger["dropped"].values()) + sum(ledger["failed"].values())
        assert ledger["in"] > 0
    assert manifest["ledgers"]["documents"]["kept"] == manifest["counts"]["documents"]
    assert manifest["ledgers"]["images"]["kept"] == manifest["counts"]["images"]


def test_the_run_is_valid_and_exports(capsys: pytest.CaptureFixture[str], done: Path, tmp_path: Path) -> None:
    assert main(["validate", str(done)]) == 0
    run = shutil.copytree(done, tmp_path / "run")  # an export is noted in the run's folder
    assert main(["export", str(run), "--format", "parquet", "--output", str(tmp_path / "p")]) == 0
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "p")
    assert table.column_names == ["images", "metadata", "general_metadata", "texts"]
    assert table.num_rows == json.loads((done / "manifest.json").read_text())["counts"]["documents"]


def test_a_run_can_write_open_flamingos_form_and_the_other_again(
    done: Path, warcs: list[Path], proxy: str, tmp_path: Path
) -> None:
    output = Path(shutil.copytree(done, tmp_path / "out"))
    before, seen = published(output), len(events(output))
    code, printed = finish(command(warcs, output, sets=[*HASTE, "shard.format=open_flamingo"]), proxy)
    assert code == 0, printed
    assert "validated" in printed
    for path in (output / "shards").glob("*.tar"):
        with tarfile.open(path) as tar:
            assert all(name.endswith(".json") for name in tar.getnames())
    assert {e["stage"] for e in events(output)[seen:] if e["event"] == "unit_done"} == {"shard", "look-up"}
    assert finish(command(warcs, output, sets=HASTE), proxy)[0] == 0
    assert published(output) == before


def test_a_file_that_is_not_whole_is_never_called_complete(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def again() -> tuple[int, str]:
        code = run(
            *("default", [str(empty), str(cut)], output, 1, TEXT_ONLY, ["extract"]),
            open_engine=lambda _folder, _config: Here(tmp_path),
        )
        return code, " ".join(capsys.readouterr().out.split())

    whole = b"".join(gz(pages(6)))
    empty, cut, output = tmp_path / "empty.warc.gz", tmp_path / "cut.warc.gz", tmp_path / "out"
    empty.write_bytes(b"")
    cut.write_bytes(whole[:-400])
    for _ in range(2):
        code, printed = again()
        assert code == 1
        assert f"{empty} (0 bytes): no WARC record can be read in the file;" in printed
        assert f"{cut} ({len(whole) - 400:,} bytes): the file ends within a record;" in printed
        assert "complete" not in printed
        assert "done before" not in printed
    assert sum(e["ledgers"]["records"]["kept"] for e in events(output) if e["event"] == "unit_done") == 5
    empty.write_bytes(whole)
    cut.write_bytes(whole)
    assert again()[0] == 0
    code, printed = again()
    assert code == 0
    assert "nothing to do: extract of" in printed


def test_a_slow_twin_in_use_is_named_as_a_run_begins(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (warc := tmp_path / "x.warc.gz").write_bytes(b"".join(gz(pages(1))))
    monkeypatch.setattr("obelics_pipeline.stages.extract.simplify.COMPILED", False)
    monkeypatch.setattr("obelics_pipeline.stages.extract.simplify.SELECTOLAX", "1.1.0")
    code = run(
        *("default", [str(warc)], tmp_path / "out", 1, TEXT_ONLY, ["extract"]),
        open_engine=lambda _folder, _config: Here(tmp_path),
    )
    printed = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert (
        printed.count("slow, in Python instead of C: obelics_pipeline.stages.extract._simplify: selectolax 1.1.0") == 1
    )


def test_a_table_without_a_pointer_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = {"url": pa.string(), "warc_filename": pa.string()}
    numbers = {"warc_record_offset": pa.int64(), "warc_record_length": pa.int64()}
    pq.write_table(pa.schema(names | numbers).empty_table(), tmp_path / "none.parquet")
    line = said(capsys, "run", "default", "--input", str(tmp_path / "none.parquet"), "--output", str(tmp_path / "o"),
                "--set", "fetch.enabled=false")  # fmt: skip
    assert "none.parquet" in line
    assert "has a row" in line
    assert not (tmp_path / "o").exists()


def run_here(inputs: list[Path], output: Path, sets: list[str]) -> int:
    """The command, in this process; its exit code."""
    with runs_inline():
        return main(command(inputs, output, 1, sets)[3:])


def test_a_replaced_input_is_read_again(warcs: list[Path], tmp_path: Path) -> None:
    warc, output = tmp_path / "in" / warcs[0].name, tmp_path / "out"
    warc.parent.mkdir()
    data = warcs[0].read_bytes()
    warc.write_bytes(data)
    assert run_here([warc], output, TEXT_ONLY) == 0
    before, seen = tree(output), len(events(output))
    middle = len(data) // 2
    warc.write_bytes(data[:middle] + bytes(200) + data[middle + 200 :])  # the same name and size, other bytes
    assert run_here([warc], output, TEXT_ONLY) == 0
    assert any(e["event"] == "unit_done" and e["stage"] == "extract" for e in events(output)[seen:])
    assert tree(output) != before


def test_a_changed_document_threshold_reads_no_page_again(warcs: list[Path], tmp_path: Path) -> None:
    output, given = tmp_path / "out", tmp_path / "in"
    given.mkdir()
    warcs = [Path(shutil.copy(warcs[0], given))]
    assert run_here(warcs, output, TEXT_ONLY) == 0
    tighter = [*TEXT_ONLY, "filters.document.word_count={min: 200}"]
    seen = len(events(output))
    (away,) = (path.rename(path.with_suffix(".moved")) for path in warcs)
    warcs[0].write_bytes(bytes(away.stat().st_size))  # the same size: nothing but zeros could be read from it
    os.utime(warcs[0], ns=(away.stat().st_atime_ns, away.stat().st_mtime_ns))
    assert run_here(warcs, output, tighter) == 0
    away.replace(warcs[0])
    assert any(e["event"] == "unit_done" and e["stage"] == "extract" for e in events(output)[seen:])
    fresh = tmp_path / "fresh"
    assert run_here(warcs, fresh, tighter) == 0
    shards = {name: sha for name, sha in tree(output).items() if name.startswith("shards/") and name.endswith(".tar")}
    assert shards
    assert shards == {n: s for n, s in tree(fresh).items() if n.startswith("shards/") and n.endswith(".tar")}
