"""A fetch unit whose time is over commits a round and goes on: on any worker, and nobody is asked twice."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from obelics_pipeline.core.commit import Manifest, names_by_label, once, read_manifest, read_manifests, unit_names
from obelics_pipeline.core.config import FetchingConfig, ImageSafetyConfig
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.stages.fetch.left import fetch_again
from obelics_pipeline.stages.fetch.requests import REQUESTS
from obelics_pipeline.stages.fetch.sources.held import Sources
from obelics_pipeline.stages.fetch.stage import fetch_unit, fetch_unit_of, fetch_units, identity, treated_as
from tests.faults.inline import Inline
from tests.stages.fetch.site import Behaviour, Site, answer, config, in_turn, picture
from tests.stages.fetch.sources.made import image, index, write

AT_ONCE, PATHS = 2, [f"/{n}" for n in range(6)]
NO_TIME = {"unit_seconds": 1e-6, "threads": AT_ONCE, "per_host": AT_ONCE, "buckets": 1, "timeout_seconds": 60}


def pages() -> dict[str, Behaviour]:
    return {path: answer(body=picture(size=(40 + n, 30))) for n, path in enumerate(PATHS)} | {"/3": answer(404)}


def held(barrier: Barrier, then: Behaviour) -> Behaviour:
    """An answer that comes once so many requests are under way."""

    def behave(sock: Any, request: Any) -> None:
        barrier.wait(60)
        then(sock, request)

    return behave


@pytest.fixture
def site() -> Iterator[Site]:
    """Six images, of which two are always asked for at the same time; one is missing."""
    barrier = Barrier(AT_ONCE)
    with Site({path: held(barrier, page) for path, page in pages().items()}) as site:
        yield site


class Fetch:
    """The stage over the images of a site, as a run does it: planned, mapped over one unit, and again after a kill."""

    def __init__(
        self,
        folder: Path,
        site: Site,
        paths: list[str],
        safety: ImageSafetyConfig,
        sources: Sources | None = None,
        **changes: Any,
    ) -> None:
        self.folder, self.images, self.config = folder / "fetch", folder / "images", config(site, **NO_TIME | changes)
        folder.mkdir(exist_ok=True)
        rows = [{"bucket": 0, "partition": "u", "url": site.url(path)} for path in paths]
        pq.write_table(pa.Table.from_pylist(rows, REQUESTS), folder / "asked.parquet")
        self._asked = Partitions(folder, {"0": ["asked.parquet"]}, {"0": f"{paths}"})
        self._treated = treated_as(safety, "")
        self._log = folder / "events.jsonl"
        self.work = partial(fetch_unit, folder=self.folder, request_folder=folder, images=self.images,
                            config=self.config, safety=safety, sources=sources)  # fmt: skip
        self._sources = sources

    def planned(self, *retry: str) -> Unit:
        names = names_by_label(self.folder)
        [value] = fetch_units(self._asked, self.folder, self.config, names, retry, self._treated, sources=self._sources)
        return fetch_unit_of(value, names)

    def round(self, *retry: str) -> Manifest:
        """One round, after which the process is killed and the machine is gone with what lay there alone."""
        manifest = once(self.planned(*retry), work=self.work, folder=self.folder)
        for own in ("journal", "staged"):
            shutil.rmtree(self.folder / own, ignore_errors=True)
        return manifest

    def run(self, *retry: str) -> tuple[Manifest, StageRunner]:
        log = EventLog(self._log)
        runner = StageRunner(Inline(self.folder), log, Display(Console(quiet=True)), ["fetch"])
        [manifest] = runner.map("fetch", self.work, [self.planned(*retry)], self.folder)
        log.close()
        return manifest, runner

    def told(self) -> str:
        return self._log.read_text()

    def rows(self, manifest: Manifest, role: str = "data") -> list[dict[str, Any]]:
        """A table, but for the places of images in packs."""
        table = pq.read_table(manifest.path(self.folder, role))
        return table.drop_columns(list({"pack", "offset"} & set(table.column_names))).to_pylist()


@pytest.fixture
def safety() -> ImageSafetyConfig:
    return ImageSafetyConfig()


def asked(site: Site, paths: list[str] = PATHS) -> list[int]:
    return [site.asked(path) for path in paths]


def test_a_unit_without_time_is_done_in_rounds_as_in_one_go(
    tmp_path: Path, site: Site, safety: ImageSafetyConfig
) -> None:
    rounds, at_once = (Fetch(tmp_path / name, site, PATHS, safety, **of) for name, of in
                       (("rounds", {}), ("at-once", {"unit_seconds": 3000})))  # fmt: skip
    manifest, runner = rounds.run()
    assert asked(site) == [1] * 6
    other, undivided = at_once.run()
    assert (manifest.unit, manifest.notes) == (other.unit, other.notes)
    assert all(rounds.rows(manifest, role) == at_once.rows(other, role) for role in ("data", "answers", "robots"))
    assert runner.ledgers["fetch"] == undivided.ledgers["fetch"] and runner.fresh == 1
    assert [f"with {n} left to do" in rounds.told() for n in (4, 2)] == [True, True]
    assert "another round" not in at_once.told()
    assert unit_names(rounds.folder) == [manifest.unit]  # rounds are gone
    assert len(list(rounds.images.rglob("*.pack"))) == 3 and len(list(rounds.folder.glob("*.parquet"))) == 1


def test_a_killed_unit_goes_on_from_its_rounds_elsewhere(tmp_path: Path, site: Site, safety: ImageSafetyConfig) -> None:
    fetch = Fetch(tmp_path, site, PATHS, safety)
    first = fetch.round()
    unit = fetch.planned()
    assert first.notes["left"] == 4 and first.ledgers["urls"].entered == 2 and "answers" not in first.files
    assert read_manifest(fetch.folder, unit.name) is None  # the bucket is not done
    second = fetch.round()
    assert second.notes["left"] == 2 and second.ledgers["urls"].entered == 2  # what is new
    manifest, _ = fetch.run()
    assert manifest.unit == unit.name and manifest.ledgers["urls"].failed == {"http_404": 1}
    assert asked(site) == [1] * 6


def test_rounds_of_an_unfinished_unit_serve_one_that_asks_for_more(
    tmp_path: Path, site: Site, safety: ImageSafetyConfig
) -> None:
    Fetch(tmp_path, site, PATHS[:4], safety).round()
    manifest, _ = Fetch(tmp_path, site, PATHS, safety).run()
    assert manifest.ledgers["urls"].entered == 6 and asked(site) == [1] * 6


def test_images_of_rounds_that_are_treated_otherwise_are_looked_at_again_and_not_asked_for(
    tmp_path: Path, site: Site, safety: ImageSafetyConfig
) -> None:
    Fetch(tmp_path, site, PATHS, safety).round()
    strip = ImageSafetyConfig(metadata="strip_location")
    fetch = Fetch(tmp_path, site, PATHS, strip)
    again = fetch.round()
    assert again.notes["treated"] == {"metadata": "strip_location"} and again.notes["left"] == 5
    assert asked(site) == [1, 1, 0, 0, 0, 0]
    manifest, _ = fetch.run()
    assert manifest.notes["superseded"] == 1 and unit_names(fetch.folder) == [manifest.unit]
    assert asked(site) == [1] * 6


def test_failures_are_asked_again_in_rounds_once(tmp_path: Path, safety: ImageSafetyConfig) -> None:
    barrier = Barrier(AT_ONCE)
    failing = {path: held(barrier, in_turn(answer(503), answer(503), answer(body=picture()))) for path in PATHS[:4]}
    with Site(failing) as site:
        fetch = Fetch(tmp_path, site, PATHS[:4], safety)
        fetch.run()
        first = fetch.round("http_503")
        assert first.notes["generation"] == 1 and asked(site, PATHS[:4]) == [2, 2, 1, 1]
        manifest, _ = fetch.run("http_503")  # the command is given again
        assert manifest.ledgers["urls"].failed == {"http_503": 4} and asked(site, PATHS[:4]) == [2] * 4
        assert manifest.notes["generation"] == 1
        assert fetch.run("http_503")[0].ledgers["urls"].kept == 4


def test_of_a_damaged_round_only_what_is_damaged_is_asked_for_again(
    tmp_path: Path, site: Site, safety: ImageSafetyConfig
) -> None:
    fetch = Fetch(tmp_path, site, PATHS, safety)
    fetch.round()
    [pack] = fetch.images.rglob("*.pack")
    whole = pack.read_bytes()
    pack.write_bytes(whole[:-1])
    site.pages = pages()
    fetch_again(fetch.folder, fetch.images, str(pack.relative_to(fetch.images)))
    assert not read_manifests(fetch.folder, unit_names(fetch.folder))
    fetch.run()
    assert asked(site) == [1, 2, 1, 1, 1, 1] and pack.read_bytes() == whole


def test_a_host_whose_delay_is_longer_than_the_time_gets_on_image_by_image(
    tmp_path: Path, safety: ImageSafetyConfig
) -> None:
    with Site(pages() | {"/robots.txt": answer(body=b"User-agent: *\nCrawl-delay: 0.05")}) as site:
        fetch = Fetch(tmp_path, site, PATHS[:2], safety)
        assert [fetch.round().notes.get("left") for _ in range(2)] == [1, None]
        assert (asked(site, PATHS[:2]), site.asked("/robots.txt")) == ([1, 1], 2)


def test_how_long_a_unit_lasts_is_in_no_id() -> None:
    assert identity(FetchingConfig(unit_seconds=7)) == identity(FetchingConfig())


def test_what_each_round_refuses_of_held_images_is_counted_once_and_asked_for_once(
    tmp_path: Path, site: Site, safety: ImageSafetyConfig
) -> None:
    resized = [image(site.url(path), picture(), (40, 30, 80, 60)) for path in PATHS]
    sources, _ = index(tmp_path, write("webdataset", tmp_path / "held", resized))
    for name, seconds in (("rounds", 1e-6), ("at-once", 3000)):
        manifest, _ = Fetch(tmp_path / name, site, PATHS, safety, sources, unit_seconds=seconds).run()
        assert manifest.notes["taken"] == {"kept": 0, "dropped": {}, "refused": {"resized": len(PATHS)}}
        assert asked(site) == [1] * len(PATHS), "also the one that is missing"
        site.log.clear()
