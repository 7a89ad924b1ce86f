"""A global step is done once for what it depends on, and leaves nothing of what it was before."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from obelics_pipeline.core.commit import Attempt, Manifest
from obelics_pipeline.core.content_name import content_name
from obelics_pipeline.core.errors import Damaged, Stopped
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.groups import Group, Piece
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.engines.shuffle import Shuffled, ShuffleInput, map_all, partition_by, shuffle, sources_of
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from tests.faults.inline import Inline
from tests.faults.runs import events


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[StageRunner]:
    log = EventLog(tmp_path / "events.jsonl")
    yield StageRunner(Inline(tmp_path), log, Display(Console(quiet=True)), ["made"])
    log.close()


def source(path: Path, **columns: Sequence[object]) -> ShuffleInput:
    """A file of rows."""
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({name: list(values) for name, values in columns.items()}), path)
    return ShuffleInput(path, file_sha256(path))


def files_of_rows(folder: Path) -> list[ShuffleInput]:
    """Two files of rows in three buckets; the last bucket has only odd numbers."""
    return [
        source(folder / "a.parquet", bucket=["0", "1", "0"], value=[4, 2, 1]),
        source(folder / "b.parquet", bucket=["1", "2", "2"], value=[8, 3, 5]),
    ]


def even(rows: pa.Table, bucket: str, *, more: int = 0) -> ReduceOutput:
    """The even numbers, and how many rows there were."""
    numbers = [value + more for value in rows["value"].to_pylist() if value % 2 == 0]
    return ReduceOutput({"data": pa.table({"value": pa.array(numbers, pa.int64())})}, {"bucket": bucket})


def numbers(sources: Sequence[ShuffleInput]) -> list[list[int]]:
    return [pq.read_table(s.path, partitioning=None)["value"].to_pylist() for s in sources]


def started(folder: Path) -> int:
    return sum(event["event"] == "shuffle_started" for event in events(folder))


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_pieces_without_rows_are_no_rows_of_the_next_step(runner: StageRunner, tmp_path: Path) -> None:
    found = shuffle(runner, tmp_path / "step", files_of_rows(tmp_path / "in"), "bucket", even, 1)
    assert {name: (group.rows, group.notes) for name, group in found.groups.items()} == {
        "0": (2, {"bucket": "0"}), "1": (2, {"bucket": "1"}), "2": (2, {"bucket": "2"}),
    }  # fmt: skip
    left = found.sources("data")
    assert numbers(left) == [[4], [2, 8]]
    assert [s.sha256 for s in left] == [file_sha256(s.path) for s in left]


def test_a_source_names_the_role_that_is_asked_for(tmp_path: Path) -> None:
    piece = {role: Piece(f"{role}.parquet", role * 3, 1) for role in ("data", "members")}
    shuffled = Shuffled(tmp_path, {"0": Group(1, piece, {})})
    assert shuffled.sources("members") == [ShuffleInput(tmp_path / "members.parquet", "members" * 3)]


def test_what_was_done_before_is_not_done_again_whatever_the_order(runner: StageRunner, tmp_path: Path) -> None:
    given = files_of_rows(tmp_path / "in")
    first = shuffle(runner, tmp_path / "step", given, "bucket", even, 1)
    before = files(tmp_path / "step")
    assert shuffle(runner, tmp_path / "step", given[::-1], "bucket", even, 1) == first
    assert started(tmp_path) == 1
    assert files(tmp_path / "step") == before


def other_settings(given: list[ShuffleInput]) -> tuple[list[ShuffleInput], str, int]:
    return given, "bucket", 2


def fewer_sources(given: list[ShuffleInput]) -> tuple[list[ShuffleInput], str, int]:
    return given[:1], "bucket", 1


def another_column(given: list[ShuffleInput]) -> tuple[list[ShuffleInput], str, int]:
    return [source(Path(str(s.path)), bucket=["0"], part=["1"], value=[2]) for s in given[:1]], "part", 1


@pytest.mark.parametrize("change", [other_settings, fewer_sources, another_column])
def test_what_depends_on_something_else_is_done_again_and_the_old_is_removed(
    runner: StageRunner, tmp_path: Path, change: Callable[[list[ShuffleInput]], tuple[list[ShuffleInput], str, int]]
) -> None:
    given = files_of_rows(tmp_path / "in")
    shuffle(runner, tmp_path / "step", given, "bucket", partial(even, more=1), 1)
    before = files(tmp_path / "step")
    changed, column, settings = change(given)
    found = shuffle(runner, tmp_path / "step", changed, column, partial(even, more=settings), settings)
    assert started(tmp_path) == 2
    assert not files(tmp_path / "step") & before
    assert all(value % 2 == settings % 2 for values in numbers(found.sources("data")) for value in values)


def test_the_column_alone_makes_another_step(runner: StageRunner, tmp_path: Path) -> None:
    given = [source(tmp_path / "in" / "a.parquet", one=["0", "1"], other=["x", "x"], value=[2, 4])]
    assert set(shuffle(runner, tmp_path / "step", given, "one", even, 1).groups) == {"0", "1"}
    assert set(shuffle(runner, tmp_path / "step", given, "other", even, 1).groups) == {"x"}


def test_of_no_sources_there_are_no_groups_and_no_files_but_the_note(runner: StageRunner, tmp_path: Path) -> None:
    shuffle(runner, tmp_path / "step", files_of_rows(tmp_path / "in"), "bucket", even, 1)
    assert shuffle(runner, tmp_path / "step", [], "bucket", even, 1).groups == {}
    assert len(files(tmp_path / "step")) == 1


def test_a_source_that_is_not_what_its_name_says_is_refused(runner: StageRunner, tmp_path: Path) -> None:
    first, made = files_of_rows(tmp_path / "in")
    named = tmp_path / "in" / content_name("x-" + "0" * 16, made.sha256, ".parquet")
    made.path.rename(named)
    pq.write_table(pa.table({"bucket": ["0"], "value": [6]}), named)
    with pytest.raises(Damaged, match=named.name):
        shuffle(runner, tmp_path / "step", [first, ShuffleInput(named, made.sha256)], "bucket", even, 1)
    assert files(tmp_path / "step") == set()


def test_rows_are_dealt_out_by_value_with_a_digest_of_each(runner: StageRunner, tmp_path: Path) -> None:
    partitions = partition_by(runner, tmp_path / "step", files_of_rows(tmp_path / "in"), "bucket")
    found = {
        value: numbers([ShuffleInput(partitions.folder / name, "") for name in partitions.names(value)])
        for value in "0123"
    }
    assert found == {"0": [[1, 4]], "1": [[2, 8]], "2": [[3, 5]], "3": []}
    assert all(
        partitions.digest(v) == file_sha256(partitions.folder / name) for v in "012" for name in partitions.names(v)
    )
    assert partitions.digest("3") == ""


def unit(name: str) -> Unit:
    return Unit("made", name.rjust(16, "0"), "u", {"name": name})


def make(unit: Unit, *, folder: Path) -> Manifest:
    """Commit a unit that has as many rows as its name says; one of no number fails."""
    rows = int(unit.payload["name"])
    with Attempt(folder, unit) as attempt:
        for role in ("data", "more"):
            attempt.file(role, ".parquet").write_bytes(b"x" * rows)
        notes = {"rows": {"data": rows}} if rows < 9 else {}
        return attempt.commit([], notes)


def test_units_noted_to_be_without_rows_are_no_sources(runner: StageRunner, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    made = map_all(runner, "made", partial(make, folder=folder), [unit("3"), unit("0"), unit("9")], folder, "made")
    assert sources_of(made, folder) == [
        ShuffleInput(m.path(folder, "data"), m.files["data"]["sha256"]) for m in made[::2]
    ]
    assert len(sources_of(made, folder, "more")) == 3


def test_a_step_that_lacks_a_unit_stops_the_run(runner: StageRunner, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with pytest.raises(Stopped, match="made: 1 of 2 units of the step made failed"):
        map_all(runner, "made", partial(make, folder=folder), [unit("1"), unit("x")], folder, "made")
