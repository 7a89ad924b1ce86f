"""Revisions in an object store: files are named, not copied, and after a kill at any put one whole revision is read."""

import hashlib
from collections.abc import Callable

import pytest
from upath import UPath

from obelics_pipeline.core import stored_revisions as stored
from obelics_pipeline.core.commit import Attempt, note, read_manifests, recall, unit_names
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revision_place import pieces_in
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.storage import copy, files_below, location, read_bytes, remove, write_bytes
from obelics_pipeline.core.unit import Unit
from tests.core.kills import killed_at

CALLS = ("pipe_file", "put_file", "cp_file", "rm_file", "call_s3")  # what changes a store
PIECES = "0123456789abcdef"


def id_of(unit: str) -> str:
    return hashlib.sha256(unit.encode()).hexdigest()[:16]


def unit(folder: UPath, name: str, text: str, ending: str = ".parquet", as_named: str | None = None) -> None:
    """Commit a unit with a file of its own and one that plays another role."""
    with Attempt(folder, Unit("stage", id_of(name), "")) as attempt:
        attempt.file("data", ending, as_named).write_text(text)
        attempt.file("sizes", ".parquet").write_text(f"sizes of {text}")
        attempt.commit([])


def publish(root: UPath, text: str) -> None:
    for name in ("config.yaml", "index.parquet", "manifest.json", "validated", "run.json"):
        write_bytes(root / name, text.encode())


def first(base: UPath) -> None:
    """A finished run with two units, a shuffle, a tar, an image, and what is of the whole run."""
    unit(base / "extract", "a", "same")
    unit(base / "extract", "b", "old")
    unit(base / "shards", "s", "old tar", as_named="shard-000000.tar")
    write_bytes(base / f"shuffled/step/{PIECES}/piece.parquet", b"piece")
    note(base / f"shuffled/step/{PIECES}.json", {"x": {"pieces": {"data": {"name": "piece.parquet"}}}})
    unit(base / "fetch", "f", "results")
    write_bytes(base / "fetch/plans/p.json", b"plan")
    write_bytes(base / "images/ab/abcd", b"image")
    write_bytes(base / "events.jsonl", b"log")
    write_bytes(base / "report.html", b"report")
    publish(base, "one")


def second(base: UPath) -> None:
    """The same with a whole second revision, which is not current yet."""
    first(base)
    root = revisions_of(base).begin()
    remove([root / "extract/manifests" / f"{id_of('b')}.json"])
    unit(root / "extract", "c", "new")
    stored.take_home(root / "shards", read_manifests(root / "shards", unit_names(root / "shards")).values())
    publish(root, "two")


def named(root: UPath) -> dict[str, bytes]:
    """The files of the units of a stage."""
    folder = root / "extract"
    found = read_manifests(folder, unit_names(folder)).items()
    return {f"{name} {role}": read_bytes(m.path(folder, role)) for name, m in found for role in m.files}


def read(root: UPath) -> dict[str, bytes]:
    """What a reader of a revision finds: the files of its units, pieces, plans, and what it publishes."""
    found = {name: read_bytes(root / name) for name in ("config.yaml", "index.parquet", "manifest.json", "run.json")}
    for stage in ("extract", "shards"):
        folder = root / stage
        for name, manifest in read_manifests(folder, unit_names(folder)).items():
            found |= {f"{stage} {name} {role}": read_bytes(manifest.path(folder, role)) for role in manifest.files}
    pieces, groups = pieces_in(root / f"shuffled/step/{PIECES}", recall(root / f"shuffled/step/{PIECES}.json"))
    found |= {f"piece {name}": read_bytes(pieces / group["pieces"]["data"]["name"]) for name, group in groups.items()}
    return found | {"plan": read_bytes(root / "fetch/plans/p.json")}


def cleared(base: UPath) -> None:
    living = list(revisions_of(base).places().values())
    for root in stored.left_over(base, revisions_of(base).current()):
        stored.clear(root, living)


def test_a_revision_begins_by_naming_files_and_without_results(bucket: UPath) -> None:
    base = bucket / "run"
    first(base)
    before = files_below(base)
    root = revisions_of(base).begin()
    found = revisions_of(base)
    assert (found.current().path, found.current_number(), found.numbers()) == (base.path, 1, [1, 2])
    assert {name: size for name, size in files_below(base).items() if not name.startswith("revisions/")} == before
    assert {name.partition("/")[0] for name in files_below(root)} == {
        *("config.yaml", "extract", "fetch", "run.json", "shards", "shuffled"),
    }
    assert not [name for name in files_below(root) if name.endswith((".parquet", ".tar"))]
    assert {
        file.parent.path
        for m in read_manifests(root / "extract", unit_names(root / "extract")).values()
        for file in [m.path(root / "extract", "data")]
    } == {(base / "extract").path}


def test_one_put_makes_a_revision_the_one_that_a_folder_means(bucket: UPath) -> None:
    base = bucket / "run"
    second(base)
    old, new = read(base), read(revisions_of(base).place(2))
    held = RunFolder(base)
    before = files_below(base)
    revisions_of(base).point(2)
    assert read(revisions_of(base).current()) == read(RunFolder(base).path) == new
    assert files_below(base) == before | {"current": 2}
    assert read(held.path) == old, "a reader stays with the revision that it opened"
    assert RunFolder(revisions_of(base).place(1)).base.path == RunFolder(base).base.path == base.path
    assert RunFolder(base).images.path == held.images.path
    revisions_of(base).point(1)
    assert read(revisions_of(base).current()) == old


def test_a_dropped_revision_leaves_the_files_that_others_name(bucket: UPath) -> None:
    base = bucket / "run"
    second(base)
    new = read(revisions_of(base).place(2))
    revisions_of(base).point(2)
    assert stored.files_of(revisions_of(base).place(2)).keys() & stored.files_of(base).keys()
    revisions_of(base).drop(1)
    cleared(base)
    assert read(revisions_of(base).current()) == new
    left = [name for name in files_below(base) if not name.startswith("revisions/")]
    assert {name.partition("/")[0] for name in left} == {
        *("current", "events.jsonl", "extract", "fetch", "images", "report.html", "shuffled"),
    }
    assert sum(name.startswith("extract/") for name in left) == 3, "a manifest and its two files"
    cleared(base)
    assert [name for name in files_below(base) if not name.startswith("revisions/")] == left


def test_the_last_revision_lies_in_the_folder_again(bucket: UPath) -> None:
    base = bucket / "run"
    second(base)
    new = read(revisions_of(base).place(2))
    revisions_of(base).point(2)
    write_bytes(base / "README.md", b"card of the first")
    write_bytes(revisions_of(base).place(2) / "README.md", b"card of the second")
    revisions_of(base).gather()
    assert revisions_of(base).current().path != base.path, "there are two"
    revisions_of(base).drop(1)
    cleared(base)
    revisions_of(base).gather()
    assert (revisions_of(base).current().path, revisions_of(base).numbers()) == (base.path, [1])
    assert read(base) == new
    assert not [name for name in files_below(base) if name.startswith(("revisions", "current"))]
    assert b'"revision"' not in b"".join(read_bytes(base / name) for name in files_below(base))
    assert {"images/ab/abcd", "events.jsonl", "report.html"} <= files_below(base).keys()
    assert read_bytes(base / "README.md") == b"card of the second"


def test_a_third_names_the_files_of_the_first_that_the_second_named(bucket: UPath) -> None:
    base = bucket / "run"
    second(base)
    revisions_of(base).point(2)
    revisions_of(base).begin()
    publish(revisions_of(base).place(3), "three")
    revisions_of(base).point(3)
    revisions_of(base).drop(2)
    cleared(base)
    revisions_of(base).drop(1)
    cleared(base)
    found = read(revisions_of(base).current())
    assert {b"same", b"new", b"piece", b"old tar"} <= set(found.values())
    revisions_of(base).gather()
    assert read(base) == found


def moved(base: UPath) -> None:
    second(base)
    revisions_of(base).point(2)


def dropped(base: UPath) -> None:
    """As `obelics revisions --keep 1`."""
    if 1 in revisions_of(base).numbers() and revisions_of(base).current_number() == 2:
        revisions_of(base).drop(1)
    cleared(base)
    revisions_of(base).gather()


def begun(base: UPath) -> None:
    cleared(base)
    if len(revisions_of(base).numbers()) == 1:
        revisions_of(base).begin()


@pytest.mark.parametrize(
    ("before", "act", "outcomes"),
    [
        (second, lambda base: revisions_of(base).point(2), "12"),
        (moved, lambda base: revisions_of(base).point(1), "21"),
        pytest.param(moved, dropped, "2", marks=pytest.mark.slow),
        (first, begun, "1"),
    ],
    ids=["point", "back", "drop", "begin"],
)
def test_a_kill_at_any_put_leaves_one_whole_revision(
    before: Callable[[UPath], object], act: Callable[[UPath], object], outcomes: str
) -> None:
    bucket = location(f"memory://killed-{outcomes}-{before.__name__}")  # as a store behaves, without its requests' time
    assert isinstance(bucket, UPath)
    before(bucket / "made")
    whole = {number: read(revisions_of(bucket / "made").place(int(number))) for number in outcomes}
    for step in range(1000):
        base = bucket / f"run-{step}"
        for name in files_below(bucket / "made"):
            copy(bucket / "made" / name, base / name)
        with killed_at(step, base.fs, CALLS) as steps:
            act(base)
        if steps[0] <= step:
            assert step > 0
            break
        assert read(revisions_of(base).current()) in whole.values(), f"after {step} steps"
        act(base)
        assert read(revisions_of(base).current()) == whole[outcomes[-1]], f"done again after {step} steps"
        if act is dropped:
            if revisions_of(base).numbers() != [1]:  # killed when both names meant it: the next command ends it
                revisions_of(base).drop(max(revisions_of(base).numbers()))
                cleared(base)
            assert not [name for name in files_below(base) if name.startswith(("revisions", "current"))]
        if act is begun:
            assert named(revisions_of(base).place(2)) == named(base)
    else:
        raise AssertionError("it never ended")
