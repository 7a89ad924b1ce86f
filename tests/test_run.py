"""The first mistakes a person makes each get one line that says what to do; the main job keeps its promises."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from obelics_pipeline.cli import main
from tests.faults.runs import ROOT, command, events, finish, published, tree

TEXT_ONLY = ["fetch.enabled=false"]


@pytest.fixture(scope="module")
def done(warcs: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("run") / "out"
    code, printed = finish(command(warcs, output), proxy)
    assert code == 0, printed
    return output


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


def test_an_unknown_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = said(
        capsys, *("run", "default", "--input", "x", "--output", str(tmp_path / "o"), "--set", "filters.docment.x=1")
    )
    assert "did you mean document?" in line


def test_a_bad_threshold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bad = "filters.document.word_count={min: 9, max: 1}"
    line = said(capsys, "run", "default", "--input", "x", "--output", str(tmp_path / "o"), "--set", bad)
    assert "nothing would be kept" in line


def test_an_unknown_filter_lists_the_valid_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bad = "filters.document.wordcount={min: 9}"
    line = said(capsys, "run", "default", "--input", "x", "--output", str(tmp_path / "o"), "--set", bad)
    assert "did you mean word_count?" in line


def test_a_missing_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = said(
        capsys,
        *("run", "default", "--input", "x", "--output", str(tmp_path / "o"), "--set", "language.model=/no/lid.bin"),
    )
    assert "/no/lid.bin" in line


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
    code = "import sys; from obelics_pipeline.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
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
    assert main(["export", str(done), "--format", "parquet", "--output", str(tmp_path / "p")]) == 0
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "p")
    assert table.column_names == ["images", "metadata", "general_metadata", "texts"]
    assert table.num_rows == json.loads((done / "manifest.json").read_text())["counts"]["documents"]


def test_a_run_can_write_open_flamingos_form_and_the_other_again(
    done: Path, warcs: list[Path], proxy: str, tmp_path: Path
) -> None:
    output = Path(shutil.copytree(done, tmp_path / "out"))
    before, seen = published(output), len(events(output))
    code, printed = finish(command(warcs, output, sets=["shard.format=open_flamingo"]), proxy)
    assert code == 0, printed
    assert "validated" in printed
    for path in (output / "shards").glob("*.tar"):
        with tarfile.open(path) as tar:
            assert all(name.endswith(".json") for name in tar.getnames())
    assert {e["stage"] for e in events(output)[seen:] if e["event"] == "unit_done"} == {"shard"}
    assert finish(command(warcs, output), proxy)[0] == 0
    assert published(output) == before


def test_a_replaced_input_is_read_again(warcs: list[Path], proxy: str, tmp_path: Path) -> None:
    warc, output = tmp_path / "in" / warcs[0].name, tmp_path / "out"
    warc.parent.mkdir()
    data = warcs[0].read_bytes()
    warc.write_bytes(data)
    assert finish(command([warc], output, sets=TEXT_ONLY), proxy)[0] == 0
    before, seen = tree(output), len(events(output))
    middle = len(data) // 2
    warc.write_bytes(data[:middle] + bytes(200) + data[middle + 200 :])  # the same name and size, other bytes
    assert finish(command([warc], output, sets=TEXT_ONLY), proxy)[0] == 0
    assert any(e["event"] == "unit_done" and e["stage"] == "extract" for e in events(output)[seen:])
    assert tree(output) != before


def test_a_changed_document_threshold_reads_no_page_again(warcs: list[Path], proxy: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert finish(command(warcs, output, sets=TEXT_ONLY), proxy)[0] == 0
    tighter = [*TEXT_ONLY, "filters.document.word_count={min: 200}"]
    seen = len(events(output))
    warcs_away = [path.rename(path.with_suffix(".moved")) for path in warcs]
    try:
        for path, away in zip(warcs, warcs_away, strict=True):
            path.write_bytes(bytes(away.stat().st_size))  # the same size: nothing but zeros could be read from it
            os.utime(path, ns=(away.stat().st_atime_ns, away.stat().st_mtime_ns))
        code, printed = finish(command(warcs, output, sets=tighter), proxy)
    finally:
        for path, away in zip(warcs, warcs_away, strict=True):
            away.replace(path)
    assert code == 0, printed
    assert any(e["event"] == "unit_done" and e["stage"] == "extract" for e in events(output)[seen:])
    fresh = tmp_path / "fresh"
    assert finish(command(warcs, fresh, sets=tighter), proxy)[0] == 0
    shards = {name: sha for name, sha in tree(output).items() if name.startswith("shards/") and name.endswith(".tar")}
    assert shards
    assert shards == {n: s for n, s in tree(fresh).items() if n.startswith("shards/") and n.endswith(".tar")}
