"""One file of a run is damaged and the command is given again: what it publishes is that of an undisturbed run."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.errors import Damaged, Stopped
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.jobs.mending import until_whole
from tests.faults.damaged_run import (
    PAGES,
    PER_PAGE,
    Damage,
    World,
    cut,
    empty,
    flip,
    kinds,
    outcome,
    stop_after,
    stop_before_it_is_read,
    zeros,
)
from tests.faults.runs import published
from tests.stages.fetch.site import answer
from tests.stages.shard.runs import picture


def flip_unnoticed(path: Path) -> None:
    """A bit such that Parquet reads another text of a kept document, and says nothing."""
    before, data = pq.read_table(path), path.read_bytes()
    kept = before["reason"].is_null()
    texts = _texts(before.filter(kept))
    for at in range(len(data) // 8, len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            after = pq.read_table(path)
            if after.drop_columns("nodes") == before.drop_columns("nodes") and _texts(after.filter(kept)) != texts:
                return
        except (OSError, ValueError, pa.ArrowException):
            continue
    raise AssertionError("every bit is noticed")


def _texts(table: pa.Table) -> list[str | None]:
    return [node["text"] for nodes in table["nodes"].to_pylist() for node in nodes]


def test_what_a_flipped_bit_makes_of_a_text_never_reaches_a_shard(world: World, finished: Path, output: Path) -> None:
    stop_after(output, "extract")
    shutil.rmtree(output / "shuffled")
    flip_unnoticed(max((output / "extract").glob("*.parquet"), key=lambda path: path.stat().st_size))
    assert world.run(output) == 0
    assert published(output) == published(finished)


def test_a_damaged_image_is_asked_for_again_and_nothing_else_is(world: World, finished: Path, output: Path) -> None:
    stop_after(output, "assembled")
    damage_image(output, picture("jpeg", PAGES * PER_PAGE - 1), bytes)
    asked = len([request for request in world.site.log if request.path.endswith(".jpeg")])
    assert world.run(output) == 0
    assert published(output) == published(finished)
    assert len([request for request in world.site.log if request.path.endswith(".jpeg")]) == asked + 1


def test_an_image_that_is_damaged_and_gone_from_the_web_fails_alone(
    world: World, finished: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(output, "assembled")
    number = PAGES * PER_PAGE - 1
    damage_image(output, picture("jpeg", number), lambda size: b"\1" * size)
    monkeypatch.setitem(world.site.pages, f"/{number}.jpeg", answer(404))
    assert world.run(output) == 0
    images = [json.loads((run / "manifest.json").read_text())["ledgers"]["images"] for run in (finished, output)]
    assert images[0]["kept"] - images[1]["kept"] == 1
    assert sum(images[1]["failed"].values()) == 1


@pytest.mark.parametrize("damage", [flip, zeros])
def test_a_damaged_tar_is_made_again_and_the_others_stand(
    world: World, finished: Path, output: Path, damage: Damage
) -> None:
    tars = sorted((output / "shards").glob("*.tar"))
    before = [tar.stat().st_mtime_ns for tar in tars]
    damage(tars[1])
    assert world.run(output) == 0
    assert published(output) == published(finished)
    after = [tar.stat().st_mtime_ns for tar in tars]
    assert [n for n, (one, other) in enumerate(zip(before, after, strict=True)) if one != other] == [1]


def test_a_damaged_index_is_made_again_and_no_hash_of_it_is_published(
    world: World, finished: Path, output: Path
) -> None:
    flip(output / "index.parquet")
    assert world.run(output) == 0
    assert published(output) == published(finished)


def test_a_manifest_that_names_another_hash_of_the_index_is_not_believed(
    world: World, finished: Path, output: Path
) -> None:
    value = json.loads((output / "manifest.json").read_text())
    value["index"]["sha256"] = value["index"]["sha256"][::-1]
    (output / "manifest.json").write_text(json.dumps(value))
    assert world.run(output) == 0
    assert published(output) == published(finished)


def test_what_is_damaged_again_after_it_was_made_anew_stops_the_run(
    world: World, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(output, "fetch")
    monkeypatch.setattr("obelics_pipeline.jobs.mending.set_aside", lambda name, folder: None)
    victim = sorted((output / "shuffled" / "answers").glob("*/*.parquet"))[0]
    zeros(victim)
    with pytest.raises(Stopped, match=re.escape(str(victim))):
        world.run(output)


def test_a_damaged_file_of_another_run_is_named_and_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs" / "unit-0123456789abcdef-0123456789ab.parquet"
    theirs.parent.mkdir()
    theirs.write_bytes(b"x")

    def attempt() -> int:
        raise Damaged(str(theirs))

    with pytest.raises(Damaged, match=re.escape(str(theirs))):
        until_whole(attempt, RunFolder(tmp_path / "ours"), print)
    assert theirs.exists()


def damage_image(output: Path, content: bytes, other: Callable[[int], bytes]) -> None:
    """Put other bytes in the place of an image in its pack."""
    packs = [(path, data) for path in (output / "images").glob("*/*.pack") if content in (data := path.read_bytes())]
    assert packs
    for path, data in packs:
        path.write_bytes(data.replace(content, other(len(content))))


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", [flip, cut, *(pytest.param(damage, marks=pytest.mark.by_hand) for damage in (zeros, empty))]
)
def test_one_damaged_file_of_any_kind_never_makes_another_output(
    world: World, finished: Path, tmp_path: Path, damage: Damage
) -> None:
    expected, silent = published(finished), []
    for number, (kind, file) in enumerate(kinds(finished).items()):
        output = shutil.copytree(finished, tmp_path / str(number))
        stop_before_it_is_read(output, kind)
        damage(output / file.relative_to(finished))
        code, said = outcome(world, output)
        if file.name not in said if code else published(output) != expected:
            silent.append((kind, code, said))
        shutil.rmtree(output)
    assert not silent
