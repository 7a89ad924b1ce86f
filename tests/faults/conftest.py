"""What one worker of the local engine makes of some files, of which every engine must make the same."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

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
