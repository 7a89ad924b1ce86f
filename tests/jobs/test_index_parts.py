"""A finished run whose index lies in parts: the same rows, made by workers, kept where nothing changed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.run_index import index_files
from obelics_pipeline.jobs.damage import survey
from obelics_pipeline.jobs.finished import Run
from obelics_pipeline.stages.shard.validate import problems
from tests.faults.inline import runs_inline
from tests.faults.runs import ROOT
from tests.small import THINGS, arguments, write_warc

ONE_EACH = "shard.target_bytes=1"  # a tar for each document
KILL = """
import os, sys
def hook(event, told):
    if event == 'os.rename' and {name!r} in str(told[1]): os._exit(9)
sys.addaudithook(hook)
from tests.faults.inline import runs_inline
from obelics_pipeline.cli.main import main
with runs_inline():
    main(sys.argv[1:])
"""


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline():
        yield


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    return write_warc(tmp_path / "in.warc")


def command(warc: Path, output: Path, rows: int, *sets: str) -> list[str]:
    return [*arguments([warc], output, ONE_EACH, f"shard.index_rows={rows}", *sets), "--yes"]


def table(run: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(run / name) for name in index_files(run)])


def sizes(run: Path) -> list[int]:
    return [pq.read_metadata(run / name).num_rows for name in index_files(run)]


def content(run: Path) -> dict[str, bytes]:
    """All that a run published, by name."""
    tables = [*run.glob("index*.parquet"), *run.glob("shards-*.parquet")]
    paths = [*run.glob("shards/*.tar"), *tables, run / "manifest.json", *run.glob("manifests/*")]
    return {str(path.relative_to(run)): path.read_bytes() for path in paths}


def harm(path: Path, lost: bool) -> None:
    """Remove a file, or turn its bytes around."""
    if lost:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[::-1])


@pytest.mark.parametrize(("rows", "parts"), [(1, [1] * 6), (2, [2] * 3), (4, [4, 2]), (5, [5, 1])])
def test_parts_have_the_rows_of_one_file_in_its_order(warc: Path, tmp_path: Path, rows: int, parts: list[int]) -> None:
    assert main(command(warc, tmp_path / "one", 6)) == 0
    assert main(command(warc, tmp_path / "parts", rows)) == 0
    assert (sizes(tmp_path / "one"), sizes(tmp_path / "parts")) == ([6], parts)
    assert table(tmp_path / "parts").equals(table(tmp_path / "one"))
    assert [part.tars for part in read_manifest(tmp_path / "parts").index] == parts
    assert main(["validate", "--deep", str(tmp_path / "parts")]) == 0


def test_readers_see_no_difference(warc: Path, tmp_path: Path) -> None:
    for name, rows in (("one", 6), ("parts", 2)):
        assert main(command(warc, tmp_path / name, rows)) == 0
    one, parts = Run(tmp_path / "one"), Run(tmp_path / "parts")
    assert parts.to_arrow().equals(one.to_arrow())
    assert [d.doc_id for d in parts.documents()] == [d.doc_id for d in one.documents()]
    assert [parts.torch_dataset()[i]["url"] for i in range(6)] == [one.torch_dataset()[i]["url"] for i in range(6)]
    for format in ("parquet", "webdataset"):
        for name in ("one", "parts"):
            out = tmp_path / f"{format}-{name}"
            options = ["--workers", "1"] if format == "webdataset" else ["--columns", "page_type"]
            assert main(["export", str(tmp_path / name), "--format", format, "--output", str(out), *options]) == 0
        files = sorted(p.name for p in (tmp_path / f"{format}-one").iterdir() if p.suffix in (".parquet", ".tar"))
        assert files
        for file in files:
            of_one, of_parts = (tmp_path / f"{format}-{name}" / file for name in ("one", "parts"))
            assert of_one.read_bytes() == of_parts.read_bytes()


def test_nothing_is_done_where_the_parts_stand(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert main(command(warc, output, 2)) == 0
    before = content(output)
    capsys.readouterr()
    assert main(command(warc, output, 2)) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert content(output) == before


def test_an_index_goes_from_one_file_to_parts_and_back(warc: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    kept = {}
    for rows, parts in ((6, [6]), (2, [2, 2, 2]), (4, [4, 2]), (6, [6]), (2, [2, 2, 2])):
        assert main(command(warc, output, rows)) == 0
        assert sizes(output) == parts
        assert index_files(output) == [part.name for part in read_manifest(output).index]
        assert len(list(output.glob("manifests/*"))) == (len(parts) if len(parts) > 1 else 0)
        assert problems(output) == []
        assert kept.setdefault(rows, content(output)) == content(output)
    assert main(["revisions", str(output), "--keep", "1"]) == 0
    assert not any(path.is_symlink() for path in output.iterdir())
    assert content(output) == kept[2]
    assert main(command(warc, output, 2)) == 0
    assert content(output) == kept[2]


@pytest.mark.parametrize("name", ["index-000000.parquet", "index-000001.parquet", "/shards-", "/manifest.json"])
def test_a_run_that_was_killed_between_parts_goes_on_with_those_that_are_there(
    warc: Path, tmp_path: Path, name: str
) -> None:
    whole, output = tmp_path / "whole", tmp_path / "out"
    assert main(command(warc, whole, 2)) == 0
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", KILL.format(name=name), *command(warc, output, 2)], env=environment)
    assert ran.returncode == 9
    assert not (output / "manifest.json").exists()
    there = {path.name: path.stat().st_mtime_ns for path in output.glob("index-*.parquet")}
    assert len(there) == {"index-000000.parquet": 0, "index-000001.parquet": 1}.get(name, 3)
    assert main(command(warc, output, 2)) == 0
    assert content(output) == content(whole)
    assert all((output / part).stat().st_mtime_ns == at for part, at in there.items())


@pytest.mark.parametrize("lost", [False, True])
def test_a_table_of_tars_that_is_damaged_or_gone_is_told_of_and_made_again(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lost: bool
) -> None:
    output = tmp_path / "out"
    assert main(command(warc, output, 2)) == 0
    before, [path] = content(output), list(output.glob("shards-*.parquet"))
    harm(path, lost)
    assert main(["validate", "--deep", str(output)]) != 0
    assert path.name in " ".join(capsys.readouterr().out.split())
    assert main(command(warc, output, 2)) == 0
    assert content(output) == before


@pytest.mark.parametrize("lost", [False, True])
def test_a_part_that_is_damaged_or_gone_is_made_again_and_no_other(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lost: bool
) -> None:
    output = tmp_path / "out"
    assert main(command(warc, output, 2)) == 0
    before, part = content(output), output / "index-000001.parquet"
    at = {path.name: path.stat().st_mtime_ns for path in output.glob("index-*.parquet")}
    harm(part, lost)
    capsys.readouterr()
    assert main(command(warc, output, 2)) == 0
    assert "index-000001.parquet is not what the manifest says" in " ".join(capsys.readouterr().out.split())
    assert content(output) == before
    again = {path.name: path.stat().st_mtime_ns for path in output.glob("index-*.parquet")}
    assert {name for name in at if at[name] != again[name]} == {"index-000001.parquet"}


def test_only_the_parts_whose_tars_changed_are_made_again(tmp_path: Path) -> None:
    first, second, output = tmp_path / "a.warc", tmp_path / "b.warc", tmp_path / "out"
    write_warc(first, THINGS[:4])
    write_warc(second, THINGS[4:5])

    def run(inputs: Sequence[Path]) -> int:
        sets = [ONE_EACH, "shard.index_rows=2", "dedup.enabled=false"]
        return main([*arguments(inputs, output, *sets), "--yes"])

    assert run([first, second]) == 0
    before = {path.name: path.stat().st_mtime_ns for path in output.glob("index-*.parquet")}
    write_warc(tmp_path / "c.warc", THINGS[5:])
    assert run([first, second, tmp_path / "c.warc"]) == 0
    after = {path.name: path.stat().st_mtime_ns for path in output.glob("index-*.parquet")}
    assert sizes(output) == [2, 2, 2]
    assert problems(output) == []
    assert len(before) == len(after) == 3


def test_another_command_of_the_run_reads_parts(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert main(command(warc, output, 2)) == 0
    url = table(output)["url"].to_pylist()[-1]
    capsys.readouterr()
    assert main(["explain", str(output), url]) == 0
    assert "shard-000005.tar" in capsys.readouterr().out
    assert main(["card", str(output), "--name", "x"]) == 0
    about = json.loads((output / "croissant.json").read_text())
    assert {file["@id"] for file in about["distribution"] if "index" in file["@id"]} == {
        *index_files(output),
        "index-*.parquet",
    }
    assert "index-*.parquet" in (output / "README.md").read_text()


def test_files_that_are_no_part_of_an_index_stay(warc: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert main(command(warc, output, 2)) == 0
    shutil.copy(output / "index-000000.parquet", output / "index-mine.parquet")
    assert main(command(warc, output, 6)) == 0
    assert (output / "index-mine.parquet").exists()
    assert index_files(output) == ["index.parquet"]


def forget(output: Path, tmp_path: Path, rows: Sequence[int]) -> None:
    urls = table(output)["url"].to_pylist()
    (tmp_path / "urls").write_text("".join(f"{urls[row]}\n" for row in rows))
    assert main(["forget", str(output), "--urls", str(tmp_path / "urls")]) == 0


def test_what_is_forgotten_in_one_part_leaves_the_others_as_they_are(warc: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    sets = ["shard.target_bytes=3000", "dedup.enabled=false"]
    assert main([*arguments([warc], output, *sets, "shard.index_rows=3"), "--yes"]) == 0
    rows, before = sizes(output), content(output)
    assert len(rows) > 1 and rows[0] > 1
    url = table(output)["url"].to_pylist()[0]
    forget(output, tmp_path, [0])
    after = content(output)
    assert sizes(output) == [rows[0] - 1, *rows[1:]]
    assert url not in table(output)["url"].to_pylist()
    kept = [name for name in sorted(before) if name.startswith("index-") and before[name] == after[name]]
    assert kept == [name for name in index_files(output) if name != "index-000000.parquet"]
    assert problems(output) == []
    assert not [name for name in survey(RunFolder(output)).damaged if name.startswith(("index", "manifests", "shards"))]
    assert not any(url.encode() in data for data in after.values())


def test_a_part_of_which_all_is_forgotten_goes(warc: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert main(command(warc, output, 2)) == 0
    forget(output, tmp_path, [2, 3])
    assert index_files(output) == ["index-000000.parquet", "index-000002.parquet"]
    assert (sizes(output), problems(output)) == ([2, 2], [])
    assert len(list(Run(output).documents())) == 4
    forget(output, tmp_path, [0, 1, 2, 3])
    assert (sizes(output), problems(output)) == ([0], [])
    assert list(Run(output).documents()) == []


def test_after_forgetting_the_same_command_makes_what_a_new_run_would(warc: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert main(command(warc, output, 2)) == 0
    forget(output, tmp_path, [2, 3])
    assert main(command(warc, output, 2)) == 0
    assert index_files(output) == ["index-000000.parquet", "index-000001.parquet"]
    assert (sizes(output), problems(output)) == ([2, 2], [])
