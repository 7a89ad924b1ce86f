"""The engine on Beam does what the local one does; what becomes of a unit reaches the driver, whatever it is."""

import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from upath import UPath

from obelics_pipeline.beam_jobs.counters import ledger_counts
from obelics_pipeline.beam_jobs.engine import BeamEngine
from obelics_pipeline.beam_jobs.options import local_options
from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import location, read_table, write_table
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure
from obelics_pipeline.engines.groups import as_they_are
from obelics_pipeline.engines.local import LocalEngine
from tests.beam_jobs.work import commit_id
from tests.engines.shuffles import content, extremes, rows_of, write_sources
from tests.engines.work import make_model, score, unit, work

pytest.importorskip("apache_beam")


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.slow)], ids=["memory", "processes"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BeamEngine]:
    with BeamEngine(local_options(request.param), tmp_path_factory.mktemp("run"), 60) as made:
        yield made


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BeamEngine]:
    """Starts its pipelines quickly: for what does not depend on where they run."""
    with BeamEngine(local_options(1), tmp_path_factory.mktemp("run"), 60) as made:
        yield made


def outcomes(engine: Any, folder: Path, units: list[Unit]) -> dict[str, Manifest | Failure]:
    return {u.id: o for u, o in engine.map_units(functools.partial(work, folder=folder), units)}


def test_units_end_as_they_do_on_the_local_engine(engine: BeamEngine, tmp_path: Path) -> None:
    units = [unit("once", "raise_once"), unit("always", "raise_always"), unit("dies", "die_once"), unit("fine")]
    (tmp_path / "here").mkdir()
    (tmp_path / "beam").mkdir()
    with LocalEngine(2, tmp_path / "here", 60) as local:
        expected = outcomes(local, tmp_path / "here", units)
    before = Counter(engine.counters)
    found = outcomes(engine, tmp_path / "beam", units)
    assert found == expected
    assert isinstance(found["always"], Failure)
    manifests = [o for o in found.values() if isinstance(o, Manifest)]
    assert engine.counters - before == ledger_counts(x for m in manifests for x in m.ledgers.values()) + Counter(
        units_done=3, units_failed=1
    )


def test_a_unit_that_always_kills_its_process_fails_alone(in_memory: BeamEngine, tmp_path: Path) -> None:
    found = outcomes(in_memory, tmp_path, [unit("dies", "die_always"), unit("fine")])
    assert found["dies"] == Failure("its worker died 12 times")
    assert isinstance(found["fine"], Manifest)


def test_units_with_a_model_end_as_they_do_on_the_local_engine_and_share_one_model(
    engine: BeamEngine, tmp_path: Path
) -> None:
    units = [*(unit(f"{i}") for i in range(6)), *(unit(do, do) for do in ("raise_once", "raise_always"))]
    found = {u.id: o for u, o in engine.map_models(make_model, functools.partial(score, folder=tmp_path), units)}
    assert found.pop("raise_always") == Failure("RuntimeError: trouble")
    assert sorted(found) == ["0", "1", "2", "3", "4", "5", "raise_once"]
    assert len({o.notes["model"] for o in found.values() if isinstance(o, Manifest)}) == 1


def test_a_unit_that_kills_the_process_of_its_model_fails_alone(in_memory: BeamEngine, tmp_path: Path) -> None:
    units = [unit("dies", "die_always"), unit("fine")]
    found = {u.id: o for u, o in in_memory.map_models(make_model, functools.partial(score, folder=tmp_path), units)}
    assert found["dies"] == Failure("its worker died 12 times")
    assert isinstance(found["fine"], Manifest)


def test_a_model_that_is_missing_ends_the_run_in_one_line(in_memory: BeamEngine, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^a model is missing; get it$"):
        list(in_memory.map_models(make_model, functools.partial(score, folder=tmp_path), [unit("a", "user_error")]))


def test_what_a_person_can_mend_ends_the_run(in_memory: BeamEngine, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a model is missing"):
        outcomes(in_memory, tmp_path, [unit("wrong", "user_error")])
    assert (tmp_path / "tries-wrong").read_text() == "x"


def test_a_full_disk_stops_the_run(in_memory: BeamEngine, tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="disk full while writing /somewhere"):
        outcomes(in_memory, tmp_path, [unit("full", "disk_full")])


def test_no_unit_is_nothing(in_memory: BeamEngine, tmp_path: Path) -> None:
    assert outcomes(in_memory, tmp_path, []) == {}


def test_values_come_in_the_order_of_the_items(in_memory: BeamEngine) -> None:
    assert list(in_memory.map(abs, [-3, -1, -2])) == [3, 1, 2]
    assert list(in_memory.map(abs, [-5])) == [5]


def test_an_error_of_a_mapped_function_is_raised(in_memory: BeamEngine, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        list(in_memory.map(Path.read_text, [tmp_path / "none", tmp_path / "nothing"]))
    assert caught.value.filename == str(tmp_path / "none")


def test_a_value_that_json_would_change_is_refused(in_memory: BeamEngine) -> None:
    with pytest.raises(RuntimeError, match="must be JSON values"):
        list(in_memory.map(tuple, [[1], [2]]))


def test_a_shuffle_leaves_what_the_local_engine_leaves_byte_by_byte(engine: BeamEngine, tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "in")
    found = engine.shuffle(sources, "key", extremes, tmp_path / "beam")
    with LocalEngine(1, tmp_path, 60) as local:
        assert local.shuffle(sources, "key", extremes, tmp_path / "here") == found
    assert content(tmp_path / "beam") == content(tmp_path / "here")
    engine.shuffle(sources[::-1], "key", extremes, tmp_path / "again")
    assert content(tmp_path / "beam") == content(tmp_path / "again")


def test_groups_of_numbers_are_named_by_their_digits(in_memory: BeamEngine, tmp_path: Path) -> None:
    pq.write_table(pa.table({"bucket": pa.array([7, 11, 7], pa.int32()), "value": [1, 2, 3]}), tmp_path / "a.parquet")
    found = in_memory.shuffle([tmp_path / "a.parquet"], "bucket", as_they_are, tmp_path / "out")
    assert rows_of(found, tmp_path / "out") == {"7": [1, 3], "11": [2]}


def test_a_shuffle_of_nothing_is_nothing(in_memory: BeamEngine, tmp_path: Path) -> None:
    assert in_memory.shuffle([], "key", as_they_are, tmp_path / "out") == {}


def test_rows_without_a_value_are_not_lost_in_silence(in_memory: BeamEngine, tmp_path: Path) -> None:
    pq.write_table(pa.table({"key": ["a", None], "n": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(RuntimeError, match="1 rows without a key"):
        in_memory.shuffle([tmp_path / "a.parquet"], "key", as_they_are, tmp_path / "out")


def test_options_that_beam_refuses_are_told_in_one_line(tmp_path: Path) -> None:
    with (
        BeamEngine(["--runner=FnApiRunner", "--environment_type=PROCESS"], tmp_path, 60) as engine,
        pytest.raises(UserError, match="process_command"),
    ):
        outcomes(engine, tmp_path, [unit("a")])


def test_nothing_is_left_in_the_folder_but_the_log(tmp_path: Path) -> None:
    with BeamEngine(local_options(1), tmp_path, 60) as engine:
        outcomes(engine, tmp_path, [unit("a")])
    left = {path.name for path in tmp_path.iterdir()} - {"manifests", ".workers", "tries-a", "crashes-a"}
    assert [name for name in left if not name.startswith("u-a")] == ["beam.log"]


@pytest.mark.slow
def test_a_runner_behind_a_job_service_does_the_same(tmp_path: Path) -> None:
    """Flink's and Spark's way in: Beam's own job service, to which a job is submitted and asked for its state."""
    options = ["--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK"]
    pq.write_table(pa.table({"key": ["a", "b", "a"], "n": [1, 2, 3]}), tmp_path / "a.parquet")
    with BeamEngine(options, tmp_path, 60) as engine:
        found = outcomes(engine, tmp_path, [unit("always", "raise_always"), unit("dies", "die_once"), unit("fine")])
        assert found.pop("always") == Failure("RuntimeError: trouble")
        assert all(isinstance(o, Manifest) for o in found.values())
        assert (engine.counters["units_done"], engine.counters["units_failed"]) == (2, 1)
        assert list(engine.map(abs, [-1, -2])) == [1, 2]
        assert sorted(engine.shuffle([tmp_path / "a.parquet"], "key", as_they_are, tmp_path / "out")) == ["a", "b"]
        with pytest.raises(UserError, match="a model is missing"):
            outcomes(engine, tmp_path, [unit("wrong", "user_error")])


@pytest.mark.slow
@pytest.mark.usefixtures("s3")
def test_driver_and_workers_may_meet_in_a_bucket() -> None:
    folder = location("s3://bucket-of-beam/run")
    assert isinstance(folder, UPath)
    folder.fs.mkdir("bucket-of-beam")
    with BeamEngine(local_options(1), folder, 60) as engine:
        work = functools.partial(commit_id, folder=folder / "stage")
        found = [outcome for _, outcome in engine.map_units(work, [unit("a"), unit("b")])]
        assert [type(outcome) for outcome in found] == [Manifest, Manifest]
        write_table(pa.table({"key": ["a", "b", "a"], "n": [1, 2, 3]}), folder / "a.parquet")
        output = folder / "dealt"
        dealt = engine.shuffle([folder / "a.parquet"], "key", as_they_are, output)
        tables = {value: read_table(output / group.pieces["data"].name) for value, group in dealt.items()}
        assert {value: table["n"].to_pylist() for value, table in tables.items()} == {"a": [1, 3], "b": [2]}
    assert not [path for path in folder.rglob("*") if "/beam/" in str(path)]
