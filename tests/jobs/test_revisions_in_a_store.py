"""A run in an object store with other values makes a revision beside the finished one, which names its files."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from upath import UPath

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.storage import copy, files_below, read_bytes, remove
from obelics_pipeline.inspect.report.command import report_html
from obelics_pipeline.inspect.report.opened import open_run
from obelics_pipeline.jobs.finished import Run
from obelics_pipeline.training.plan import documents
from obelics_pipeline.training.plan.documents import read_run
from obelics_pipeline.training.plan.recipe import Dataset
from tests.core.storage.conftest import new_bucket
from tests.core.storage.runs import finish, obelics, objects
from tests.faults.inline import runs_inline
from tests.faults.runs import published, published_of
from tests.small import arguments, write_warc

LESS = "filters.document={word_count: {min: 40}}"
MORE = "shard.target_bytes=1"  # changes nothing but how documents are dealt out to tars
LONG = ["bench", "very long and rather old stone bench"]  # the second page has more words


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline():
        yield


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_warc(tmp_path_factory.mktemp("input") / "in.warc", LONG)


@pytest.fixture(scope="module")
def made(s3: str, in_this_process: None, warc: Path) -> UPath:
    """A finished run in a store: not to be changed."""
    base = new_bucket("revised") / "made"
    assert main(arguments([warc], base)) == 0
    return base


@pytest.fixture
def finished(made: UPath) -> UPath:
    """A copy of it."""
    base = made.parent / uuid4().hex
    for name in files_below(made):
        copy(made / name, base / name)
    return base


def run(warc: Path, base: object, *sets: str, yes: bool = True) -> int:
    return main([*arguments([warc], base, *sets), *(["--yes"] if yes else [])])


def shown(base: UPath, capsys: pytest.CaptureFixture[str], *how: str) -> list[str]:
    capsys.readouterr()
    assert main(["revisions", str(base), *how]) == 0
    return capsys.readouterr().out.splitlines()


def results(root: UPath) -> dict[str, str]:
    """sha256 of all that a revision is made for, by name."""
    return published_of(objects(root))


def test_a_revision_is_that_of_a_run_on_a_disk(
    finished: UPath, warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = tmp_path / "out"
    assert run(warc, disk) == run(warc, disk, LESS) == 0
    before = objects(finished)
    assert run(warc, finished, LESS, yes=False) == 2
    told = capsys.readouterr()
    assert "a new revision would begin from revision 1, whose files it names by 5 new manifests" in told.out
    assert "at most 1 (0.00 GB)" in told.out
    assert objects(finished) == before, "a no leaves all as it was"
    reader = Run(str(finished))
    assert run(warc, finished, LESS) == 0
    assert len(list(reader.documents())) == 2, "a reader stays with the revision that it opened"
    assert len(Run(str(finished))) == 1
    assert (revisions_of(finished).current_number(), revisions_of(finished).numbers()) == (2, [1, 2])
    assert results(revisions_of(finished).current()) == published(disk)
    after = objects(finished)
    assert {name: after[name] for name in before} == before
    assert [line[:15] for line in shown(finished, capsys)] == ["    1  kept    ", "*   2  current "]
    for how in (["validate"], ["validate", "--deep"], ["report"]):
        for root in (finished, revisions_of(finished).place(2)):
            assert main([*how, str(root)]) == 0, how
    assert shown(finished, capsys, "--use", "1")[0].startswith("*   1  current")
    assert main(["revisions", str(disk), "--use", "1"]) == 0
    assert results(revisions_of(finished).current()) == published(disk)
    assert ["1 document" in line for line in shown(finished, capsys)] == [False, True], "each has its own manifest"
    for sets, number in (((LESS,), 2), ((), 1)):
        assert run(warc, finished, *sets, yes=False) == 0, "former values bring their revision back"
        known = revisions_of(finished)
        assert (known.current_number(), known.numbers()) == (number, [1, 2])


def test_what_stays_the_same_is_named_and_tars_are_copied(finished: UPath, warc: Path) -> None:
    assert run(warc, finished, MORE) == 0
    own = files_below(revisions_of(finished).place(2))
    assert not [name for name in own if name.startswith(("extract/", "assembled/")) and name.endswith(".parquet")]
    assert sum(name.endswith(".tar") for name in own) == 2
    assert main(["validate", "--deep", str(finished)]) == 0
    assert main(["explain", str(finished), "https://pages.example/bench"]) == 0


def test_the_parts_of_an_index_are_those_of_their_revision(
    finished: UPath, warc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [MORE, "shard.index_rows=1"]
    assert run(warc, finished, *parts) == 0
    second = revisions_of(finished).place(2)
    assert [part.name for part in read_manifest(second).index] == ["index-000000.parquet", "index-000001.parquet"]
    assert [part.name for part in read_manifest(finished).index] == ["index.parquet"]
    assert len(list(Run(str(finished)).documents())) == 2
    assert main(["validate", "--deep", str(finished)]) == 0
    assert [line[:6] for line in shown(finished, capsys, "--keep", "1")] == ["*   1 "]
    fresh = finished.parent / uuid4().hex
    assert run(warc, fresh, *parts) == 0
    assert objects(finished) == objects(fresh)
    assert run(warc, finished, MORE) == 0
    assert shown(finished, capsys, "--keep", "1")
    assert "index-" not in "".join(files_below(finished)), "parts that went with their revision are nowhere"


@pytest.mark.slow
def test_whatever_reads_a_run_reads_its_current_revision(
    finished: UPath, warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(warc, finished, LESS) == 0
    second = revisions_of(finished).place(2)
    for how in (["export", "--format", "parquet"], ["publish", "--workers", "1"], ["card"], ["report"]):
        name = how[0]
        assert main([name, str(finished), *how[1:], "--output", str(tmp_path / name)]) == 0, name
    assert sum(pq.read_table(path).num_rows for path in (tmp_path / "export").glob("*.parquet")) == 1
    assert pq.read_table(tmp_path / "publish" / "data").num_rows == 1
    assert "1 document" in (tmp_path / "card" / "README.md").read_text()
    assert main(["card", str(finished)]) == 0
    assert read_bytes(second / "README.md") == (tmp_path / "card" / "README.md").read_bytes(), "where its tars lie"
    assert (tmp_path / "report").read_text() == report_html(open_run(str(second))).replace(str(second), str(finished))
    capsys.readouterr()
    assert main(["explain", str(finished), "https://pages.example/bench"]) == 0
    assert "word_count" in capsys.readouterr().out
    planned = read_run("pages", Dataset(runs=(str(finished),)), str(finished), tmp_path)
    assert [str(task.shard.parent) for task in planned.tasks] == [str(second / "shards")]


def test_what_was_removed_is_known_to_plans_by_the_current_revision(
    finished: UPath, warc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(warc, finished, MORE) == 0
    asked: list[UPath] = []
    monkeypatch.setattr("obelics_pipeline.training.plan.documents.tombstones_of", asked.append)
    recipe = SimpleNamespace(datasets={"pages": Dataset(runs=(str(finished),))})
    documents._forgotten(recipe, [])
    assert asked == [revisions_of(finished).place(2)]


def test_a_copy_of_two_revisions_on_a_disk_is_refused(
    finished: UPath, warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(warc, finished, MORE) == 0
    finished.fs.get(finished.path, str(tmp_path / "copied"), recursive=True)
    for command in ("tune", "validate", "report"):
        capsys.readouterr()
        assert main([command, str(tmp_path / "copied")]) == 2, command
        line = capsys.readouterr().err
        assert "obelics revisions URL --keep 1" in line
        assert line.count("\n") == 1
    assert main(["tune", str(finished)]) == 2
    assert "copy the run here" in capsys.readouterr().err


@pytest.mark.slow
def test_dropped_and_gathered_it_is_a_run_as_any_other(
    finished: UPath, warc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(warc, finished, MORE) == 0
    assert [line[:6] for line in shown(finished, capsys, "--keep", "1")] == ["*   1 "]
    fresh = finished.parent / uuid4().hex
    assert run(warc, fresh, MORE) == 0
    assert objects(finished) == objects(fresh)
    assert run(warc, finished, MORE, yes=False) == 0
    assert "nothing to do" in capsys.readouterr().out


@pytest.mark.slow
def test_a_revision_lives_on_when_the_one_that_it_came_from_is_dropped(
    finished: UPath, warc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(warc, finished, MORE) == run(warc, finished, LESS) == 0
    assert revisions_of(finished).numbers() == [1, 2, 3]
    assert [line[:6] for line in shown(finished, capsys, "--drop", "1")] == ["    2 ", "*   3 "]
    assert main(["revisions", str(finished), "--use", "2"]) == 0
    for number in (2, 3):
        assert main(["validate", "--deep", str(revisions_of(finished).place(number))]) == 0


def test_a_damaged_file_that_is_shared_is_made_again_by_the_revision_that_needs_it(
    finished: UPath, warc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(warc, finished, MORE) == 0
    name = next(n for n in files_below(finished / "assembled") if n.startswith("sizes/"))
    whole = read_bytes(finished / "assembled" / name)
    finished.fs.pipe_file((finished / "assembled" / name).path, b"x" * len(whole))
    assert main(["validate", "--deep", str(finished)]) == 1
    assert f"assembled/{name}: differs" in capsys.readouterr().out
    assert run(warc, finished, MORE) == 0
    assert read_bytes(revisions_of(finished).place(2) / "assembled" / name) == whole
    assert main(["validate", "--deep", str(finished)]) == 0


@pytest.mark.slow
def test_what_was_begun_goes_on_and_is_not_the_current_one(
    finished: UPath, warc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments([warc], finished, LESS), "--yes", "--stage", "extract"]) == 0
    assert revisions_of(finished).current_number() == 1
    assert "unfinished" in shown(finished, capsys)[1]
    remove([revisions_of(finished).place(2) / "run.json"])  # as a kill before its last put leaves it
    assert revisions_of(finished).numbers() == [1]
    assert run(warc, finished, LESS) == 0
    assert (revisions_of(finished).current_number(), revisions_of(finished).numbers()) == (2, [1, 2])
    assert main(["validate", "--deep", str(finished)]) == 0


def test_nothing_is_forgotten_in_one_revision_alone(
    finished: UPath, warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(warc, finished, MORE) == 0
    urls = tmp_path / "urls.txt"
    urls.write_text("https://pages.example/bench\n")
    assert main(["forget", str(finished), "--urls", str(urls)]) == 2
    assert "obelics revisions" in capsys.readouterr().err
    assert main(["revisions", str(finished), "--keep", "1"]) == 0
    assert main(["forget", str(finished), "--urls", str(urls)]) == 0
    assert RunFolder(finished).path == finished
    assert len(Run(str(finished))) == 1


@pytest.mark.slow
def test_no_other_machine_moves_the_pointer_while_a_run_is_at_work(finished: UPath, warc: Path, tmp_path: Path) -> None:
    assert run(warc, finished, LESS) == 0
    with RunFolder(finished).locked():  # another TMPDIR: no lock in common, as on another machine
        code, printed = finish(obelics("revisions", finished, "--use", "1"), TMPDIR=str(tmp_path))
        assert (code, "another run is working there" in printed) == (2, True), printed
    assert revisions_of(finished).current_number() == 2


def test_a_pointer_that_could_not_be_put_is_put_by_the_next_command(
    finished: UPath, warc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = results(finished)
    with pytest.MonkeyPatch.context() as patch:
        real = finished.fs.call_s3

        def refusing(method: str, *arguments: object, **how: object) -> object:
            if str(how.get("Key", "")).endswith("/current"):
                raise PermissionError("AccessDenied")
            return real(method, *arguments, **how)

        patch.setattr(finished.fs, "call_s3", refusing)
        assert run(warc, finished, LESS) == 3
    assert "no access" in capsys.readouterr().err
    assert (revisions_of(finished).current_number(), results(finished)) == (1, before)
    assert run(warc, finished, LESS, yes=False) == 0
    assert revisions_of(finished).current_number() == 2
