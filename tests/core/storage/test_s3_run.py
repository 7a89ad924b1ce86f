"""A run from S3 to S3 is the run from disk to disk, byte for byte, whatever happens on the way."""

import gzip
import json
import os
import random
import signal
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from upath import UPath

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.storage import files_below, location, names_in, read_bytes, read_table, scratch_of
from tests.core.storage.conftest import new_bucket
from tests.core.storage.runs import ALONE, finish, obelics, objects, start, whole
from tests.faults.runs import command, tree
from tests.stages.read.server import serving

KEY = "crawl-data/CC-MAIN-2024-18/segments/1/warc/{}"


@pytest.fixture(scope="module")
def source(s3: str, warcs: list[Path]) -> UPath:
    """The demo's WARC files in a bucket."""
    bucket = new_bucket("source")
    for path in warcs:
        bucket.fs.put_file(str(path), f"source/{path.name}")
        bucket.fs.put_file(str(path), f"source/{KEY.format(path.name)}")
    listing = gzip.compress("".join(f"{KEY.format(path.name)}\n" for path in warcs).encode())
    bucket.fs.pipe_file("source/crawl-data/CC-MAIN-2024-18/warc.paths.gz", listing)
    return bucket


@pytest.fixture(scope="module")
def done(source: UPath, on_disk: Path) -> UPath:
    """A finished run in a bucket."""
    run = new_bucket("done") / "deep" / "run"
    code, printed = finish(command([source / "*.warc.gz"], run, sets=ALONE))
    assert code == 0, printed
    return run


def test_a_run_in_a_bucket_is_the_run_on_disk(done: UPath, on_disk: Path) -> None:
    assert any(name.endswith(".tar") for name in tree(on_disk))
    assert objects(done) == tree(on_disk)
    assert not [path for path in scratch_of(done).rglob("*") if path.suffix == ".parquet"]


def test_its_events_are_in_the_bucket_at_the_end(done: UPath) -> None:
    events = [json.loads(line) for line in read_bytes(done / "events.jsonl").splitlines()]
    assert (events[0]["event"], events[-1]["event"]) == ("run_started", "run_done")


@pytest.mark.slow
def test_a_second_run_does_nothing_and_appends_its_events(done: UPath, source: UPath) -> None:
    before, lines = objects(done), read_bytes(done / "events.jsonl")
    code, printed = finish(command([source / "*.warc.gz"], done, sets=ALONE))
    assert (code, objects(done)) == (0, before)
    assert "nothing to do" in printed
    after = read_bytes(done / "events.jsonl")
    assert after.startswith(lines)
    assert b'"unit_done"' not in after[len(lines) :]


@pytest.mark.slow
def test_it_validates_exports_and_explains(done: UPath, on_disk: Path, source: UPath, tmp_path: Path) -> None:
    code, printed = finish(obelics("validate", done))
    shards = sum(name.endswith(".tar") for name in tree(on_disk))
    assert (code, f"valid: {counted(shards, 'shards')}, " in printed) == (0, True), printed
    code, printed = finish(obelics("export", done, "--format", "parquet", "--output", done.parent / "published"))
    assert code == 0, printed
    code, printed = finish(obelics("export", on_disk, "--format", "parquet", "--output", tmp_path))
    assert code == 0, printed
    for path in tmp_path.iterdir():
        assert read_bytes(done.parent / "published" / path.name) == path.read_bytes()
    rows = pq.read_table(on_disk / "index.parquet").to_pylist()
    here, there = finish(obelics("explain", on_disk, rows[3]["url"])), finish(obelics("explain", done, rows[3]["url"]))
    assert (here[0], there[0]) == (0, 0), there[1]
    assert there[1].replace(str(done), "").splitlines()[5:] == here[1].replace(str(on_disk), "").splitlines()[5:]


@pytest.mark.slow
def test_a_damaged_shard_in_a_bucket_is_found(done: UPath) -> None:
    name = next(name for name in names_in(done / "shards") if name.endswith(".tar"))
    whole = read_bytes(done / "shards" / name)
    try:
        done.fs.pipe_file((done / "shards" / name).path, whole[:2000] + b"\0" + whole[2001:])
        code, printed = finish(obelics("validate", done))
        assert code == 1
        assert f"{name}: its sha256 is not the manifest's" in printed
        done.fs.rm_file((done / "shards" / name).path)
        code, printed = finish(obelics("validate", done))
        assert code == 1
        assert f"{name}: cannot be read" in printed
    finally:
        done.fs.pipe_file((done / "shards" / name).path, whole)


@pytest.mark.by_hand
def test_killed_anywhere_and_run_again_it_is_the_same(source: UPath, on_disk: Path) -> None:
    dice, run = random.Random(3), new_bucket("killed") / "run"
    arguments = command([source / "*.warc.gz"], run, sets=ALONE)
    killed = 0
    for enough in (1, 3, 6, 9):  # manifests
        process = start(arguments)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if sum("/manifests/" in name for name in files_below(run)) >= enough:
                break
            time.sleep(0.02)
        time.sleep(dice.uniform(0, 0.2))
        killed += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        whole(run)
    assert killed >= 3
    code, printed = finish(arguments)
    assert code == 0, printed
    assert objects(run) == tree(on_disk)


@pytest.mark.slow
def test_images_and_duplicates_too(source: UPath, warcs: list[Path], proxy: str, tmp_path: Path) -> None:
    run = new_bucket("with-images") / "run"
    process = start(command([source / "*.warc.gz"], run), proxy)
    while process.poll() is None and not names_in(run / "fetch" / "manifests"):
        time.sleep(0.05)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    whole(run)
    code, printed = finish(command([source / "*.warc.gz"], run), proxy)
    assert code == 0, printed
    code, printed = finish(command(warcs, tmp_path / "run"), proxy)
    assert code == 0, printed
    assert objects(run) == tree(tmp_path / "run")
    assert any(name.startswith("images/") for name in objects(run))


@pytest.mark.by_hand
def test_common_crawl_is_read_by_its_keys_from_s3_and_from_its_mirror(
    source: UPath, warcs: list[Path], tmp_path: Path
) -> None:
    listing = "crawl-data/CC-MAIN-2024-18/warc.paths.gz"
    outputs = []
    with serving(tmp_path / "mirror") as mirror:
        for name in files_below(source / "crawl-data"):
            path = tmp_path / "mirror" / "crawl-data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(read_bytes(source / "crawl-data" / name))
        ways = {
            "glob": ([str(source / "crawl-data/*/segments/*/warc/*.warc.gz")], []),
            "keys": ([str(source / listing)], [f"reading.pointer_root={source}"]),
            "mirror": ([f"{mirror.url}/{listing}"], [f"reading.pointer_root={mirror.url}"]),
        }
        for way, (inputs, sets) in ways.items():
            run = location(f"s3://source/runs/{way}")
            assert isinstance(run, UPath)
            code, printed = finish(command(inputs, run, sets=[*ALONE, *sets, "reading.request_retries=1"]))
            assert code == 0, printed
            outputs.append({name: sha for name, sha in objects(run).items() if name != "config.yaml"})
    assert outputs[0] == outputs[1] == outputs[2]
    assert {row["warc_filename"] for row in read_table(run / "index.parquet").to_pylist()} == {
        KEY.format(path.name) for path in warcs
    }


@pytest.mark.by_hand
def test_two_runs_in_one_bucket_at_once_one_is_refused(source: UPath, on_disk: Path, tmp_path: Path) -> None:
    run = new_bucket("two-at-once") / "run"
    arguments = command([source / "*.warc.gz"], run, sets=ALONE)
    processes = [start(arguments), start(arguments, TMPDIR=str(tmp_path))]  # as on two machines: no lock in common
    printed = [process.communicate(timeout=280)[0] for process in processes]
    assert sorted(process.returncode for process in processes) == [0, 2], printed
    assert any("another run" in text for text in printed)
    assert objects(run) == tree(on_disk)
