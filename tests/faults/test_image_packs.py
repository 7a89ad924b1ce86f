"""Packs of images in whole runs, on a disk and in a bucket: what is damaged comes back, what is forgotten goes."""

from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, files_below, read_bytes, read_table, scratch_of, write_bytes
from obelics_pipeline.stages.fetch.result import FetchResult, results_from_table
from obelics_pipeline.stages.fetch.run_images import RunImages
from tests.core.storage.conftest import new_bucket
from tests.core.storage.runs import objects, whole
from tests.faults.damaged_run import World, flip, stop_after
from tests.faults.inline import Inline
from tests.faults.runs import published, tree


def stored(run: Location) -> list[FetchResult]:
    """What the fetch units of a run say of the images that they stored."""
    folder = RunFolder(run).fetch
    units = read_manifests(folder, unit_names(folder)).values()
    results = [r for unit in units for r in results_from_table(read_table(unit.path(folder, "data")))]
    return sorted((r for r in results if r.sha256 is not None), key=lambda result: result.url)


def packs(run: Location) -> dict[str, bytes]:
    images = RunFolder(run).images
    return {name: read_bytes(images / name) for name in files_below(images)}


def test_images_lie_in_packs_alone_and_nothing_stays_staged(finished: Path) -> None:
    assert [name.split("/")[0] for name in packs(finished)] == ["bucket-0000"]
    assert not (finished / "fetch" / "staged").exists()
    assert not RunImages(finished / "images").lost(stored(finished))


def test_a_pack_that_is_gone_comes_back_as_it_was(world: World, finished: Path, output: Path) -> None:
    stop_after(output, "assembled")
    for path in (output / "images").glob("*/*.pack"):
        path.unlink()
    assert world.run(output) == 0
    assert published(output) == published(finished)
    assert packs(output) == packs(finished)


def test_a_damaged_pack_is_named_set_aside_and_mended(
    world: World, finished: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = next((output / "images").glob("*/*.pack"))
    flip(pack)
    capsys.readouterr()
    assert main(["validate", "--deep", str(output)]) == 1
    assert f"{pack.relative_to(output)}: differs from what the run wrote" in capsys.readouterr().out
    assert main(["validate", "--repair", str(output)]) == 1
    assert world.run(output) == 0
    assert main(["validate", "--deep", str(output)]) == 0
    assert packs(output) == packs(finished)


def forgets_one(run: Location, folder: Path) -> None:
    """Forget the address of an image: its bytes are nowhere any more, all others are where they were."""
    (folder / "key").write_text("cd" * 32 + "\n")
    before = stored(run)
    victim = before[1]
    data = RunImages(RunFolder(run).images).read(victim)
    (folder / "urls").write_text(f"{victim.url}\n")
    assert main(["forget", str(run), "--urls", str(folder / "urls"), "--key", str(folder / "key")]) == 0
    for name in files_below(run):
        content = read_bytes(run / name)
        assert data[len(data) // 2 :][:60] not in content, name
        assert victim.url.encode() not in content, name
    after = stored(run)
    assert [(r.url, r.pack, r.offset) for r in after] == [(r.url, r.pack, r.offset) for r in before if r != victim]
    assert not RunImages(RunFolder(run).images).lost(after)


def test_what_is_forgotten_is_in_no_pack(
    world: World, output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strays = [output / "images" / "bucket-0001" / ("0" * 32 + ".pack"), output / "fetch" / "staged" / "unit" / "ab"]
    for stray in strays:
        stray.parent.mkdir(parents=True)
        stray.write_bytes(b"of a bucket that was killed")
    forgets_one(output, tmp_path)
    assert "1 stored images removed" in capsys.readouterr().out
    assert main(["validate", "--deep", str(output)]) == 0
    assert not any(stray.exists() for stray in strays)
    before = published(output)
    stop_after(output, "assembled")
    assert world.run(output) == 0
    assert published(output) == before


def test_images_of_a_run_of_an_earlier_version_are_read(output: Path) -> None:
    """It has a file for each image, and no places."""
    folder = RunFolder(output)
    for result in stored(output):
        path = output / "images" / str(result.sha256)[:2] / str(result.sha256)
        path.parent.mkdir(exist_ok=True)
        write_bytes(path, RunImages(folder.images).read(result))
    for result in stored(output):
        assert RunImages(folder.images).read(FetchResult(result.url, "ok", sha256=result.sha256))
    path = output / "images" / str(result.sha256)[:2] / str(result.sha256)
    flip(path)
    alone = [FetchResult("", "ok", sha256=result.sha256) for result in stored(output)]
    assert RunImages(folder.images).lost(alone) == {path.name}


@pytest.mark.slow
def test_a_bucket_has_the_same_packs_and_loses_them_with_a_revision(
    world: World, finished: Path, s3: str, tmp_path: Path
) -> None:
    base = new_bucket("packed") / "run"

    def run(*sets: str) -> int:
        return world.run(str(base), yes=True, sets=sets, engine=lambda folder, *_: Inline(scratch_of(folder)))

    assert run() == 0
    assert objects(UPath(base)) == tree(finished)
    assert not (scratch_of(RunFolder(base).fetch) / "staged").exists()
    whole(base)
    assert main(["validate", "--deep", str(base)]) == 0
    first = set(packs(base))
    assert run("fetch.max_bytes=1000000") == 0
    assert main(["validate", "--deep", str(base)]) == 0
    assert set(packs(base)) == first, "the same images make the same packs"
    assert main(["revisions", str(base), "--keep", "1"]) == 0
    assert set(packs(base)) == first
    assert not RunImages(base / "images").lost(stored(base))
    forgets_one(base, tmp_path)
    assert main(["validate", "--deep", str(base)]) == 0
