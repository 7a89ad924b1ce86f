"""Images stored once: packs go when the tars have been read back, and later revisions read images from these tars."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, files_below, read_bytes, scratch_of
from obelics_pipeline.inspect.tune.measured import Measured
from obelics_pipeline.jobs.finished import Run
from obelics_pipeline.jobs.score_rows.image_folder import images_of
from obelics_pipeline.stages.fetch.removed_packs import RemovedPacks, removed_packs
from tests.core.storage.conftest import new_bucket
from tests.core.storage.runs import objects
from tests.faults.damaged_run import World, a_world, flip
from tests.faults.inline import Inline, forgets_inline
from tests.faults.runs import published, tree
from tests.stages.fetch.site import answer
from tests.stages.fetch.site import picture as drawn

# Images: one page has a picture that is too small, and is dropped; two others have one picture in common.
FETCHED, IN_NO_TAR = 8, {"/8.jpeg", "/9.jpeg"}
KEPT = ("images.min_per_document=2",)
ONCE = (*KEPT, "shard.keep_packs=false")
LESS = (*ONCE, "filters.document={image_count: {min: 1}, word_count: {min: 40}}", "shard.target_bytes=1")
OTHER_TARS = (*ONCE, "shard.target_bytes=1")
MORE = ("images.min_per_document=1", "shard.keep_packs=false")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("world")) as made, forgets_inline():
        made.site.pages["/8.jpeg"] = answer(body=drawn(size=(100, 100)))
        yield made


@pytest.fixture(scope="module")
def kept(world: World) -> Path:
    """A run that keeps its packs: not to be changed."""
    assert world.run(world.folder / "kept", sets=KEPT) == 0
    return world.folder / "kept"


@pytest.fixture(scope="module")
def once(world: World) -> Path:
    """A run that removed them: not to be changed."""
    assert world.run(world.folder / "once", sets=ONCE) == 0
    return world.folder / "once"


@pytest.fixture
def output(once: Path, world: World, tmp_path: Path) -> Path:
    world.site.log.clear()
    return shutil.copytree(once, tmp_path / "out")


def packs(run: Location) -> list[str]:
    return [name for name in files_below(run) if name.endswith(".pack")]


def asked(world: World) -> set[str]:
    return {request.path for request in world.site.log} - {"/robots.txt"}


def test_the_tars_alone_are_left_and_the_same_command_has_nothing_to_do(
    world: World, kept: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {name: size for name, size in files_below(kept).items() if name.endswith(".pack")}
    assert published(output) == published(kept)
    assert sizes and not packs(output)
    assert removed_packs(RunFolder(output)) == RemovedPacks(1, len(sizes), sum(sizes.values()), FETCHED)
    before = tree(output)
    capsys.readouterr()
    assert world.run(output, sets=ONCE) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert main(["validate", "--deep", str(output)]) == main(["validate", "--repair", str(output)]) == 0
    assert capsys.readouterr().out.count(f"{len(sizes)} pack of images (0.00 GB) were removed once the tars of") == 2
    assert tree(output) == before
    assert not asked(world)


def test_a_run_that_kept_its_packs_removes_them_without_work(world: World, kept: Path, tmp_path: Path) -> None:
    output = shutil.copytree(kept, tmp_path / "out")
    world.site.log.clear()
    assert world.run(output, sets=ONCE) == 0
    assert published(output) == published(kept)
    assert not packs(output) and not asked(world)


def test_a_higher_threshold_reads_the_tars_and_asks_nobody(world: World, output: Path, tmp_path: Path) -> None:
    assert world.run(output, sets=LESS, yes=True) == 0
    assert not asked(world)
    assert world.run(tmp_path / "fresh", sets=LESS) == 0
    assert published(output) == published(tmp_path / "fresh")
    assert not packs(output)
    assert not [path for path in (output / "shuffled").iterdir() if path.name.startswith("images-")]
    for revision in (1, 2):
        assert main(["validate", "--deep", str(RunFolder(output, revision).path)]) == 0


def test_what_is_in_no_tar_is_asked_for_again_and_the_plan_says_so(
    world: World, output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    with pytest.raises(UserError, match="confirm with --yes"):
        world.run(output, sets=MORE)
    assert f"of the others, at least 2 of {FETCHED} images, those that documents need" in capsys.readouterr().out
    assert world.run(output, sets=MORE, yes=True) == 0
    assert "5 images came back from 2 tars; 2 are in no tar" in capsys.readouterr().out
    assert asked(world) == IN_NO_TAR
    assert world.run(tmp_path / "fresh", sets=MORE) == 0
    assert published(output) == published(tmp_path / "fresh")
    assert not packs(output)


def test_a_kill_amid_the_removal_leaves_a_run_that_goes_on(world: World, kept: Path, tmp_path: Path) -> None:
    output = shutil.copytree(kept, tmp_path / "out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("obelics_pipeline.jobs.remove_packs.remove", _stop)
        with pytest.raises(Stopped):
            world.run(output, sets=ONCE)
    assert packs(output) and main(["validate", "--deep", str(output)]) == 0
    world.site.log.clear()
    assert world.run(output, sets=ONCE) == 0
    assert not packs(output) and not asked(world)
    assert published(output) == published(kept)


def test_a_kill_while_images_come_back_asks_nobody_either(world: World, output: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("obelics_pipeline.stages.fetch.removed_packs.note_removed", _stop)
        with pytest.raises(Stopped):
            world.run(output, sets=OTHER_TARS, yes=True)
    second = RunFolder(output, 2).path
    assert packs(second)
    assert main(["validate", "--deep", str(output)]) == main(["validate", "--deep", str(second)]) == 0
    assert world.run(output, sets=OTHER_TARS, yes=True) == 0
    assert not asked(world) and not packs(output)
    assert main(["validate", "--deep", str(output)]) == 0


def _stop(*_: object, **__: object) -> None:
    raise Stopped("killed")


def test_nothing_is_removed_where_tars_do_not_read_back_or_units_failed(
    world: World, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = shutil.copytree(kept, tmp_path / "out")
    (output / "validated").unlink()
    monkeypatch.setattr("obelics_pipeline.jobs.main_job.problems", lambda *_: ["a shard is not as written"])
    assert world.run(output, sets=ONCE) == 1
    assert packs(output) == packs(kept) and removed_packs(RunFolder(output)) is None
    monkeypatch.undo()
    monkeypatch.setattr("obelics_pipeline.jobs.main_job._conclude", lambda *_: 1)
    assert world.run(output, sets=ONCE) == 1
    assert packs(output) == packs(kept)


def test_a_damaged_note_is_named_and_left_for_a_person(
    world: World, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flip(note := output / "images-removed.json")
    capsys.readouterr()
    assert main(["validate", "--repair", str(output)]) == 1
    assert "images-removed.json: left as it is" in (printed := capsys.readouterr().out) and "is missing" not in printed
    with pytest.raises(UserError, match=f"{note}: is damaged; take it from another revision, or remove it"):
        world.run(output, sets=ONCE)


def test_a_damaged_tar_is_made_again_from_the_web(world: World, once: Path, output: Path) -> None:
    flip(min((output / "shards").glob("*.tar")))
    assert main(["validate", "--deep", str(output)]) == 1
    assert world.run(output, sets=ONCE) == 0
    assert published(output) == published(once)
    assert asked(world) == {"/2.jpeg", "/3.jpeg", "/4.jpeg", "/5.jpeg"} | IN_NO_TAR
    assert not packs(output)


def test_what_is_forgotten_comes_back_from_no_tar(world: World, output: Path, tmp_path: Path) -> None:
    victim, *others = (image for document in Run(output).documents() for image in document.images())
    (tmp_path / "urls").write_text(f"{victim.src}\n")
    assert main(["forget", str(output), "--urls", str(tmp_path / "urls")]) == 0
    assert main(["validate", "--deep", str(output)]) == 0
    assert world.run(output, sets=OTHER_TARS, yes=True) == 0
    left = {image.sha256 for document in Run(output).documents() for image in document.images()}
    assert left and victim.sha256 not in left and left <= {image.sha256 for image in others}
    assert not asked(world) and not packs(output)


def test_pictures_are_shown_from_tars_and_a_missing_one_as_removed(output: Path, tmp_path: Path) -> None:
    run = Measured(RunFolder(output))
    for document in Run(output).documents():
        for image in document.images():
            assert len(run.image(str(image.sha256))) == image.n_bytes
    lost = next(sha256 for url, sha256 in run.stored.items() if url.endswith("/9.jpeg"))
    with pytest.raises(ValueError, match=r"in no tar, and 1 pack of images \(0.00 GB\) were removed"):
        run.image(lost)
    with images_of(output / "images", tmp_path / "beside") as source, pytest.raises(UserError, match="were removed"):
        source(next(iter(Run(output).documents())).images()[0])


@pytest.mark.slow
def test_a_bucket_has_the_same(world: World, once: Path, s3: str, tmp_path: Path) -> None:
    base = new_bucket("once") / "run"

    def run(*sets: str) -> int:
        return world.run(str(base), yes=True, sets=sets, engine=lambda folder, *_: Inline(scratch_of(folder)))

    assert run(*ONCE) == 0
    assert objects(UPath(base)) == tree(once)
    world.site.log.clear()
    assert run(*MORE) == 0
    assert asked(world) == IN_NO_TAR and not packs(base)
    assert world.run(tmp_path / "fresh", sets=MORE) == 0
    found = {name: read_bytes(RunFolder(base).path / name) for name in published(tmp_path / "fresh")}
    assert {name: (tmp_path / "fresh" / name).read_bytes() for name in found} == found
    assert main(["validate", "--deep", str(base)]) == main(["validate", "--deep", str(base / "revisions" / "2")]) == 0
