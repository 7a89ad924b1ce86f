"""Which units are sampled; and a sample taken on the demo's site against a run of the same."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.tables import read_kept
from obelics_pipeline.inspect.check.sample import Sample, evenly_spaced, take_sample
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import ReadTask, plan_ranges
from tests.faults.runs import command, finish


def task(kind: str, i: int) -> ReadTask:
    return ReadTask(kind, "p", "n", i, i + 1, 10, "v", f"{kind}-{i:03d}")  # type: ignore[arg-type]


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 12))
def test_a_sample_is_bounded_has_both_ends_and_no_unit_twice(warcs: int, tables: int, units: int) -> None:
    tasks = [task("warc", i) for i in range(warcs)] + [task("pointers", i) for i in range(tables)]
    chosen = evenly_spaced(tasks, units)
    assert chosen == evenly_spaced(tasks, units)
    for kind, n in (("warc", warcs), ("pointers", tables)):
        of_kind = [t for t in chosen if t.kind == kind]
        assert len(of_kind) == len({t.label for t in of_kind}) == min(units, n)
        if n:
            assert of_kind[0].start == 0
        if n > 1 and units > 1:
            assert of_kind[1].start == n - 1
            places = sorted(t.start for t in of_kind)
            gaps = [b - a for a, b in pairwise(places)]
            assert max(gaps) - min(gaps) <= 1


def measured(warcs: list[Path], units: int, seconds: float = 600) -> tuple[Sample, int]:
    config = load_config("default", ["fetch.enabled=false", "reading.unit_bytes=30000"])
    tasks = plan_ranges(resolve_inputs([str(path) for path in warcs], config.reading), config.reading)
    return take_sample(tasks, config, units, seconds), len(tasks)


@pytest.mark.slow
def test_a_sample_of_everything_counts_what_a_run_counts(warcs: list[Path], tmp_path: Path) -> None:
    sample, units = measured(warcs, 1000)
    code, printed = finish(command(warcs, tmp_path / "out", sets=["fetch.enabled=false"]), "http://127.0.0.1:9")
    assert code == 0, printed
    ledgers = json.loads((tmp_path / "out" / "manifest.json").read_text())["ledgers"]
    assert len(sample.parts) == units
    assert sample.whole["records"] == ledgers["records"]["in"]
    assert sample.whole["pages"] == ledgers["records"]["kept"]
    assert sample.whole["documents_read"] == ledgers["documents"]["in"]
    assert sample.whole["in_shards"] == ledgers["documents"]["kept"]
    assert sample.whole["images_in_shards"] == ledgers["images"]["kept"]
    files = sorted((tmp_path / "out" / "assembled").glob("*.parquet"))
    kept = sum(len(document.text().encode()) for path in files for document in read_kept(path))
    assert sample.whole["text_bytes"] == kept > 0
    assert sample.problems == []


@pytest.mark.slow
def test_a_sample_is_the_same_again_but_for_times_and_leaves_nothing_behind(
    warcs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (one, _), (two, _) = measured(warcs, 3), measured(warcs, 3)
    assert one.parts == two.parts
    assert (one.whole, one.urls, one.hosts) == (two.whole, two.urls, two.hosts)
    asked = [[(s.stage, s.kind, s.name, s.label, s.cost.traffic) for s in sample.steps] for sample in (one, two)]
    assert asked[0] == asked[1]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_no_further_unit_is_begun_when_the_time_is_up(warcs: list[Path]) -> None:
    sample, _ = measured(warcs, 1000, seconds=0)
    assert len(sample.parts) == 1


@pytest.mark.slow
def test_a_unit_that_cannot_be_read_is_told_and_the_others_count(warcs: list[Path], tmp_path: Path) -> None:
    config = load_config("default", ["fetch.enabled=false", "reading.unit_bytes=30000"])
    copies = [tmp_path / path.name for path in warcs]
    for path, copy in zip(warcs, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    tasks = plan_ranges(resolve_inputs([str(path) for path in copies], config.reading), config.reading)
    copies[-1].unlink()
    sample = take_sample(tasks, config, 2, 600)
    assert [part.label for part in sample.parts] == [tasks[0].label]
    assert len(sample.problems) == 1
    assert tasks[-1].label in sample.problems[0]
