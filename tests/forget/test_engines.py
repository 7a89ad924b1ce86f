"""Whatever engine forgets, and however often it is stopped: the same bytes, and nothing else than what was asked."""

import shutil
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.storage import Location, scratch_of
from obelics_pipeline.forget.forget import OpenEngine, forget
from tests.faults.inline import Inline
from tests.faults.runs import tree
from tests.forget.traces import traces
from tests.forget.victims import Victim, victims

Lists = dict[str, list[Path]]


@pytest.fixture(scope="module")
def victim(run_of_demo: Path) -> Victim:
    return victims(run_of_demo)[0]


@pytest.fixture(scope="module")
def lists(run_of_demo: Path, victim: Victim, tmp_path_factory: pytest.TempPathFactory) -> Lists:
    """A page, a domain, an image of a page that stays, and a document by its id."""
    folder = tmp_path_factory.mktemp("lists")
    _, two, three, *_ = victims(run_of_demo, 4)
    (folder / "urls").write_text(f"{victim.url}\n{two.image.src}\n")
    (folder / "domains").write_text("best-of-towns.example\n")
    (folder / "hashes").write_text(f"{three.doc_id}\n")
    (folder / "key").write_text("ab" * 32 + "\n")
    return {kind: [folder / kind] for kind in ("urls", "domains", "hashes")}


@pytest.fixture
def run(run_of_demo: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_of_demo, tmp_path / "run"))


def inline(folder: Location, _config: RunConfig) -> Inline:
    return Inline(scratch_of(folder))


def forgotten(run: Path, lists: Lists, open_engine: OpenEngine | None, **how: Any) -> dict[str, str]:
    """The files of a run, once an engine has forgotten."""
    key = next((paths[0].parent / "key" for paths in lists.values()), None)
    done = forget(str(run), lists, key, say=lambda _: None, open_engine=open_engine, **how)
    assert not done.problems
    return tree(run)


@pytest.fixture(scope="module")
def of_one_process(run_of_demo: Path, lists: Lists, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    run = Path(shutil.copytree(run_of_demo, tmp_path_factory.mktemp("inline") / "run"))
    return forgotten(run, lists, inline)


def test_two_workers_agree_with_one_process(
    run: Path, lists: Lists, victim: Victim, of_one_process: dict[str, str]
) -> None:
    assert forgotten(run, lists, None, workers=2) == of_one_process
    assert traces(run, victim.needles) == []
    assert main(["validate", str(run), "--deep"]) == 0


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_ray_agrees(run: Path, lists: Lists, of_one_process: dict[str, str]) -> None:
    from obelics_pipeline.engines.on_ray.engine import RayEngine
    from tests.engines.cluster import FEW_ROWS, ray_cluster

    with ray_cluster(nodes=2) as cluster:
        found = forgotten(run, lists, lambda place, _: RayEngine(cluster.address, None, place, 600, FEW_ROWS))
    assert found == of_one_process


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_beam_agrees(run: Path, lists: Lists, of_one_process: dict[str, str]) -> None:
    from obelics_pipeline.beam_jobs.forget import main as forget_on_beam

    arguments = [x for kind, paths in lists.items() for x in (f"--{kind}", str(paths[0]))]
    key = lists["urls"][0].parent / "key"
    assert forget_on_beam([str(run), *arguments, "--key", str(key), "--direct_running_mode=in_memory"]) == 0
    found = tree(run)
    found.pop("beam.log", None)
    assert found == of_one_process


class _Stops(Inline):
    """An engine that is stopped after some units."""

    def __init__(self, folder: Path, units: int) -> None:
        super().__init__(folder)
        self._left = units

    def _each(self, function: Callable[[Any], Any], waiting: deque[Any], /) -> Iterator[tuple[Any, Any]]:
        for outcome in super()._each(function, waiting):
            if self._left == 0:
                raise KeyboardInterrupt
            self._left -= 1
            yield outcome


def test_one_that_is_stopped_again_and_again_goes_on_behind_the_last_unit(
    run: Path, lists: Lists, of_one_process: dict[str, str]
) -> None:
    def stopping(folder: Location, _config: RunConfig) -> Inline:
        return _Stops(scratch_of(folder), 40)

    asked: Lists = lists
    stops = 0
    while True:
        try:
            found = forgotten(run, asked, stopping)
            break
        except KeyboardInterrupt:
            stops += 1
            asked = {}  # as the command says: without lists it goes on
        assert stops < 20, "it begins anew"
    assert stops >= 3
    assert found == of_one_process


def forgotten_without(run: Path) -> None:
    forget(str(run), {}, say=lambda _: None, open_engine=inline)


def test_a_damaged_unit_among_those_to_be_searched_is_named_in_one_line(
    run: Path, lists: Lists, capsys: pytest.CaptureFixture[str]
) -> None:
    unit = max((run / "extract").glob("*.parquet"), key=lambda path: path.stat().st_size)
    data = unit.read_bytes()
    unit.write_bytes(data[:100] + bytes([data[100] ^ 255]) + data[101:])
    shards = {path.name: path.read_bytes() for path in (run / "shards").glob("*.tar")}
    arguments = [x for kind, paths in lists.items() for x in (f"--{kind}", str(paths[0]))]
    assert main(["forget", str(run), *arguments, "--workers", "2"]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(unit) in said
    assert {path.name: path.read_bytes() for path in (run / "shards").glob("*.tar")} == shards
    unit.write_bytes(data)
    forgotten_without(run)
    assert not (run / "forgotten/steps").exists()


def test_a_dry_run_by_workers_that_are_elsewhere_leaves_nothing(run: Path, lists: Lists) -> None:
    before = tree(run)
    done = forget(str(run), lists, dry_run=True, say=lambda _: None, open_engine=inline)
    assert done.found["documents"] >= 3
    assert done.images > 0
    assert tree(run) == before
    assert not list(run.glob(".tmp*"))
