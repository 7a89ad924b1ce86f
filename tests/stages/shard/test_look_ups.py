"""The step that makes look-ups: the same files after a kill, damage or another size, and nothing left on the way."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.shards import look_up
from obelics_pipeline.core.shards.look_up import KEYS, ORDER, bucket_of, by_id, by_url, read_look_up, rows_of
from obelics_pipeline.core.shards.manifest import read_manifest, write_manifest
from obelics_pipeline.stages.shard import look_ups
from tests.faults.inline import runs_inline
from tests.faults.runs import ROOT, tree
from tests.small import THINGS, arguments, write_warc

SMALL = ["shard.target_bytes=4096"]  # three tars of two pages
KILL = """
import os, sys
from tests.faults.inline import runs_inline
from obelics_pipeline.core.shards import look_up
from obelics_pipeline.stages.shard import look_ups
look_up.ROWS_PER_BUCKET, look_ups.DEALT_ROWS = 2, 4
def hook(event, told):
    if event == {event!r} and {part!r} in str(told[1]):
        os._exit(9)
sys.addaudithook(hook)
from obelics_pipeline.cli.main import main
with runs_inline():
    main(sys.argv[1:])
"""
MOMENTS = {
    "rows of some tars were dealt": ("os.link", "shuffled/look-up-rows/manifests"),
    "the rows of a bucket are together": ("os.rename", "bucket=id-0002"),
    "all rows are": ("os.rename", "shuffled/look-up-buckets/"),
    "before the first bucket": ("os.link", "look-up/manifests/url-0000"),
    "between buckets": ("os.link", "look-up/manifests/id-0001"),
    "before the manifest of the run": ("os.rename", "out/manifest.json"),
}


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(look_up, "ROWS_PER_BUCKET", 2)
        patch.setattr(look_ups, "DEALT_ROWS", 4)  # two tars, and one
        yield


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_warc(tmp_path_factory.mktemp("in") / "in.warc")


@pytest.fixture(scope="module")
def finished(warc: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six pages in three tars, with four buckets of each kind; not to be changed."""
    output = tmp_path_factory.mktemp("finished") / "out"
    assert main(arguments([warc], output, *SMALL)) == 0
    return output


def run_of(warc: Path, output: Path) -> Path:
    assert main(arguments([warc], output, *SMALL)) == 0
    return output


def are_right(run: Path) -> None:
    """Assert that each row of the index is in its bucket, and that everything is found."""
    manifest, index = read_manifest(run), pq.read_table(run / "index.parquet")
    for kind in KEYS:
        parts = look_up.parts_of(manifest, kind)
        rows = rows_of(index, kind).sort_by(ORDER)
        places = bucket_of(rows["hash"].to_numpy(), len(parts))
        for number, part in enumerate(parts):
            assert read_look_up(run / "look-up" / part.name).equals(rows.filter(places == number))
    ids = index["doc_id"].to_pylist()
    assert list(by_id(run, manifest, ids)) == ids or set(by_id(run, manifest, ids)) == set(ids)
    urls = [f"https://pages.example/{thing}" for thing in THINGS]
    assert set(by_url(run, manifest, [*urls, "https://pages.example/"])) == set(urls) & set(index["url"].to_pylist())


def test_each_document_is_in_its_bucket_and_no_row_is_left_on_the_way(finished: Path) -> None:
    parts = read_manifest(finished).look_up
    assert [part.kind for part in parts] == ["url"] * 4 + ["id"] * 4
    assert [part.name[:9] for part in parts[:4]] == [f"url-000{number}-" for number in range(4)]
    are_right(finished)
    assert not list((finished / "shuffled").rglob("look-up*"))
    assert main(["validate", str(finished)]) == 0


def test_one_bucket_has_the_rows_of_all(warc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_up, "ROWS_PER_BUCKET", 2**20)
    run = run_of(warc, tmp_path / "out")
    assert [part.rows for part in read_manifest(run).look_up] == [6, 6]
    are_right(run)


def test_another_number_of_buckets_replaces_them(
    finished: Path, warc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(look_up, "ROWS_PER_BUCKET", 2**20)
        run = run_of(warc, tmp_path / "out")
    assert tree(run_of(warc, run)) == tree(finished)


def test_a_finished_run_is_left_alone(finished: Path, warc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(finished)
    run_of(warc, finished)
    assert "nothing to do" in capsys.readouterr().out
    assert tree(finished) == before


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_anywhere_it_goes_on_to_the_same_bytes(moment: str, finished: Path, warc: Path, tmp_path: Path) -> None:
    event, part = MOMENTS[moment]
    command, output = arguments([warc], tmp_path / "out", *SMALL), tmp_path / "out"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    program = KILL.format(event=event, part=part)
    done = subprocess.run([sys.executable, "-c", program, *command], env=environment, check=False, timeout=300)
    assert done.returncode == 9
    assert not (output / "manifest.json").exists()
    assert tree(run_of(warc, output)) == tree(finished)


@pytest.mark.parametrize("what", ["gone", "a bit", "no manifest of the unit", "all gone"])
def test_what_is_damaged_is_made_again(finished: Path, warc: Path, tmp_path: Path, what: str) -> None:
    run = run_of(warc, tmp_path / "out")
    path = run / "look-up" / read_manifest(run).look_up[5].name
    if what == "gone":
        path.unlink()
    elif what == "a bit":
        data = bytearray(path.read_bytes())
        data[40] ^= 1
        path.write_bytes(data)
    elif what == "no manifest of the unit":
        next((run / "look-up/manifests").glob("id-0001-*")).unlink()
    else:
        for each in (run / "look-up").rglob("*.*"):
            each.unlink()
    assert tree(run_of(warc, run)) == tree(finished)
    assert main(["validate", str(run)]) == 0


def test_a_run_of_an_earlier_version_gets_them(finished: Path, warc: Path, tmp_path: Path) -> None:
    run = run_of(warc, tmp_path / "out")
    for each in (run / "look-up").rglob("*.*"):
        each.unlink()
    write_manifest(run, replace(read_manifest(run), look_up=()))
    assert main(["validate", str(run)]) == 0
    assert tree(run_of(warc, run)) == tree(finished)


@pytest.mark.parametrize("size", [1, 4096])  # the page is alone in its tar, which goes with it, or with another
def test_what_is_forgotten_leaves_its_bucket_and_the_others_are_found_where_they_are(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(look_up, "ROWS_PER_BUCKET", 4)  # two buckets, before and after
    run = tmp_path / "out"
    assert main(arguments([warc], run, f"shard.target_bytes={size}")) == 0
    gone = "https://pages.example/bench"
    (tmp_path / "list").write_text(f"{gone}\n")
    assert main(["forget", str(run), "--urls", str(tmp_path / "list")]) == 0
    are_right(run)
    manifest = read_manifest(run)
    assert by_url(run, manifest, [gone]) == {}
    assert sum(part.rows for part in manifest.look_up) == 2 * 5
    hash_ = int(look_up.key_hashes([gone])[0]).to_bytes(8, "little")
    assert not [path for path in run.rglob("*") if path.is_file() and hash_ in path.read_bytes()]
    named = {part.name for part in manifest.look_up}
    assert {path.name for path in (run / "look-up").glob("*.parquet")} == named
    assert main(["validate", str(run)]) == 0
    before = tree(run)
    capsys.readouterr()
    assert main(arguments([warc], run, f"shard.target_bytes={size}")) == 0
    assert tree(run) == before
    assert "nothing to do" in capsys.readouterr().out
