"""One file of a run is damaged and the command is given again: what it publishes is that of an undisturbed run."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.errors import Damaged, Stopped, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.jobs.main_job import run
from obelics_pipeline.jobs.mending import until_whole
from obelics_pipeline.stages.fetch.image_store import ImageStore
from tests.faults.inline import Inline
from tests.faults.runs import published
from tests.policy.image_safety.test_in_a_run import WORDS, record
from tests.stages.consent.registry import Registry
from tests.stages.fetch.site import Site, answer
from tests.stages.shard.runs import picture

PAGES, PER_PAGE = 6, 2
ORDER = ("extract", "dedup", "site", "consent", "requests", "fetch", "assembled", "shards")  # by what reads what
GIVEN = {"run.json", "inputs.json", "config.yaml"}  # what the command said: tests/core/test_folder.py
Damage = Callable[[Path], None]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def empty(path: Path) -> None:
    path.write_bytes(b"")


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


class World:
    """A site, pages that show its pictures, a list and a service of who opted out; and one command over them."""

    def __init__(self, folder: Path, site: Site, registry: Registry) -> None:
        self.folder, self.site = folder, site
        self._warc = folder / "in.warc"
        self._warc.write_bytes(b"".join(self._page(number) for number in range(PAGES)))
        (folder / "listed.txt").write_text("https://pages0.example/0\n")
        service = {"url": registry.url, "allow_private": ["127.0.0.1/32"], "requests_per_second": 1000}
        lists = {"mine": {"path": str(folder / "listed.txt"), "kind": "urls", "of": ["pages"]}}
        self._sets = [
            "language.min_score=0", "filters.document={image_count: {min: 1}}", "reading.unit_bytes=3000",
            "dedup.text.enabled=true", "dedup.paragraphs.min_count=null", "site.enabled=true", "site.score=null",
            "fetch.buckets=2", "fetch.host_delay_seconds=0", f'fetch.allow_private=["127.0.0.1:{site.port}"]',
            "shard.target_bytes=8000", f"consent={json.dumps({'service': service, 'lists': lists})}",
        ]  # fmt: skip

    def _page(self, number: int) -> bytes:
        shown = ""
        for name in (f"{number * PER_PAGE + n}.jpeg" for n in range(PER_PAGE)):
            shown += f'<p>{WORDS} {name}, {number}.</p><img src="{self.site.url(f"/{name}")}">'
        body = f"<html><body><article><h1>Page {number}</h1>{shown}<p>{WORDS} {number}</p></article></body></html>"
        return record(f"https://pages{number % 3}.example/{number}", body)

    def run(self, output: Path) -> int:
        return run("default", [str(self._warc)], str(output), 1, self._sets, open_engine=Inline)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    pictures = {f"/{n}.jpeg": answer(body=picture("jpeg", n)) for n in range(PAGES * PER_PAGE)}
    with Site(pictures) as site, Registry({"https://pages0.example/3"}) as registry:
        yield World(tmp_path_factory.mktemp("world"), site, registry)


@pytest.fixture(scope="module")
def finished(world: World) -> Path:
    output = world.folder / "finished"
    assert world.run(output) == 0
    return output


@pytest.fixture
def output(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "out")


def stop_after(output: Path, stage: str) -> None:
    """As a run that stopped when this stage was done, so that what it wrote is read again."""
    for later in ORDER[ORDER.index(stage) + 1 :]:
        shutil.rmtree(output / later, ignore_errors=True)
    for name in ("index.parquet", "manifest.json", "validated"):
        (output / name).unlink(missing_ok=True)


def test_what_a_flipped_bit_makes_of_a_text_never_reaches_a_shard(world: World, finished: Path, output: Path) -> None:
    stop_after(output, "extract")
    shutil.rmtree(output / "shuffled")
    flip_unnoticed(max((output / "extract").glob("*.parquet"), key=lambda path: path.stat().st_size))
    assert world.run(output) == 0
    assert published(output) == published(finished)


def test_a_damaged_image_is_asked_for_again_and_nothing_else_is(world: World, finished: Path, output: Path) -> None:
    stop_after(output, "assembled")
    zeros(sorted((output / "images").glob("*/*"))[3])
    asked = len([request for request in world.site.log if request.path.endswith(".jpeg")])
    assert world.run(output) == 0
    assert published(output) == published(finished)
    assert len([request for request in world.site.log if request.path.endswith(".jpeg")]) == asked + 1


def test_an_image_that_is_damaged_and_gone_from_the_web_fails_alone(
    world: World, finished: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(output, "assembled")
    number = PAGES * PER_PAGE - 1
    flip(stored(output, picture("jpeg", number)))
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
    monkeypatch.setattr("obelics_pipeline.jobs.mending._remove", lambda name, folder: None)
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


def stored(output: Path, content: bytes) -> Path:
    """Where the store of a run has an image."""
    path = ImageStore(output / "images").path(hashlib.sha256(content).hexdigest())
    assert isinstance(path, Path) and path.exists()
    return path


def kinds(output: Path) -> dict[str, Path]:
    """The largest file of each kind that the run wrote: by its folders, its role and its ending, not by what it is of.

    The steps of a shuffle are one kind of folder: all are written and read by the same functions.
    """
    found: dict[str, Path] = {}
    for path in sorted(path for path in output.rglob("*") if path.is_file() and path.name not in GIVEN):
        name = re.sub(r"shuffled/[^/]+/", "shuffled/step/", str(path.relative_to(output)))
        name = re.sub(r"[^/]*[0-9a-f]{12,64}[^/.]*|(shard|bucket)-\d+", "#", re.sub(r"images/\w\w/", "images/", name))
        if name not in found or path.stat().st_size > found[name].stat().st_size:
            found[name] = path
    return found


def stop_before_it_is_read(output: Path, kind: str) -> None:
    """What a finished run wrote for its readers is looked at by the next; the rest only where something is to do."""
    first = kind.split("/")[0]
    stage = {"images": "assembled", "shuffled": "extract"}.get(first, first)
    if stage in ORDER[:-1]:
        stop_after(output, stage)


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


def outcome(world: World, output: Path) -> tuple[int, str]:
    """The exit code, and what was told last or went wrong."""
    try:
        return world.run(output), (output / "events.jsonl").read_text(errors="replace")[-3000:]
    except (UserError, Stopped) as error:
        return error.exit_code, str(error)
