"""What a job keeps of an earlier run, whenever that was killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.commit import recall
from tests.faults.inline import runs_inline
from tests.faults.runs import ROOT
from tests.small import arguments, write_warc
from tests.stages.shard.runs import without_page_type

KILL = """
import os, sys
def hook(event, told):
    if event == {event!r} and {part!r} in str(told[{which}]):
        os._exit(9)
sys.addaudithook(hook)
from obelics_pipeline.cli.main import main
main(sys.argv[1:])
"""
MOMENTS = {
    "before the units of the old file go": KILL.format(event="os.remove", part="extract/manifests", which=0),
    "before the new state is noted": KILL.format(event="os.rename", part="inputs.json", which=1),
}


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline():
        yield


def urls(output: Path) -> set[str]:
    return set(pq.read_table(output / "index.parquet")["url"].to_pylist())


def killed(program: str, command: list[str]) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", program, *command], env=environment, check=False).returncode == 9


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_replaced_input_is_read_though_the_run_that_noticed_was_killed(moment: str, tmp_path: Path) -> None:
    warc, output = write_warc(tmp_path / "in.warc", ["bench"]), tmp_path / "out"
    assert main(arguments([warc], output)) == 0
    write_warc(warc, ["arbor"])  # the same number of letters: name and size stay
    command = [*arguments([warc], output), "--yes"]
    killed(MOMENTS[moment], command)
    assert main(command) == 0
    assert urls(output) == {"https://pages.example/arbor"}


def test_an_index_of_an_earlier_version_gets_the_columns_that_it_lacks(tmp_path: Path) -> None:
    warc, output = write_warc(tmp_path / "in.warc"), tmp_path / "out"
    assert main(arguments([warc], output)) == 0
    before = (output / "index.parquet").read_bytes()
    without_page_type(output)
    assert main(arguments([warc], output)) == 0
    assert (output / "index.parquet").read_bytes() == before
    assert main(["validate", str(output)]) == 0


def test_a_file_that_went_and_came_back_as_another_is_read(tmp_path: Path) -> None:
    first, other = write_warc(tmp_path / "a.warc", ["bench"]), write_warc(tmp_path / "b.warc", ["ladder"])
    output = tmp_path / "out"
    assert main(arguments([first, other], output)) == 0
    note = recall(output / "inputs.json")
    command = [*arguments([other], output), "--yes"]
    killed(KILL.format(event="os.remove", part="extract/a.", which=0), command)  # as what was read of it goes
    assert recall(output / "revisions/2/inputs.json") != note
    write_warc(first, ["arbor"])
    assert main([*arguments([first, other], output), "--yes"]) == 0
    assert urls(output) == {"https://pages.example/arbor", "https://pages.example/ladder"}
