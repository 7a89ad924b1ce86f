"""Runs that several modules begin from: what every engine must make of some files, and a finished run to be damaged."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.faults.damaged_run import World, a_world
from tests.faults.runs import FEW, command, finish, published


@pytest.fixture(scope="session")
def twice(warcs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The demo's files, and one of them once more: every page of it has two captures."""
    again = tmp_path_factory.mktemp("again") / "demo-00002.warc.gz"
    shutil.copyfile(warcs[0], again)
    return [*warcs, again]


@pytest.fixture(scope="session")
def of_one_worker(twice: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    output = tmp_path_factory.mktemp("local") / "out"
    code, printed = finish(command(twice, output, 1, FEW), proxy)
    assert code == 0, printed
    reasons = set(pq.read_table(output / "duplicates.parquet")["reason"].to_pylist())
    assert {"duplicate_url", "duplicate_text"} <= reasons  # the shuffle had something to say
    return published(output)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("world")) as made:
        yield made


@pytest.fixture(scope="module")
def finished(world: World) -> Path:
    output = world.folder / "finished"
    assert world.run(output) == 0
    return output


@pytest.fixture
def output(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "out")
