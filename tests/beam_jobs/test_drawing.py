"""The graphs for Dataflow, Flink and Spark are built with the options that docs/beam.md gives. Nothing is run.

Without the extra apache-beam[gcp] Dataflow's graph is the portable one, before the service's own rewriting. Its bucket
is looked at where google-cloud-storage is installed: here on a server on loopback.
"""

import json
import re
from pathlib import Path
from typing import Any

import fsspec
import pytest

from obelics_pipeline.beam_jobs.curate import main

DOCS = Path(__file__).parents[2] / "docs" / "beam.md"
RUNNERS = ("DataflowRunner", "FlinkRunner", "SparkRunner")
GROUP_BY_KEY, PAR_DO = "beam:transform:group_by_key:v1", "beam:transform:pardo:v1"


def documented(runner: str) -> list[str]:
    """The options of the command in the docs that names a runner."""
    commands = re.findall(
        r"python -m obelics_pipeline.beam_jobs\.curate (.*?)\n\n", DOCS.read_text().replace("\\\n", " ") + "\n\n", re.S
    )
    (command,) = [c for c in commands if f"--runner {runner}" in c]
    return command[command.index("--runner") :].split()


def draw(options: list[str], folder: Path) -> dict[str, Any]:
    file = folder / "graph.json"
    arguments = ["default", "--input", "x.warc.gz", "--output", str(folder / "out"), "--graph", str(file)]
    assert main([*arguments, *options]) == 0
    drawn: dict[str, Any] = json.loads(file.read_text())
    return drawn


def urns(graph: dict[str, Any]) -> list[str]:
    return [t["spec"]["urn"] for t in graph["components"]["transforms"].values() if "spec" in t]


@pytest.fixture(scope="module")
def bucket(gs: str) -> None:
    """The bucket of the docs."""
    fsspec.filesystem("gs").mkdir("my-bucket")


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("runner", [RUNNERS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in RUNNERS[1:])])
def test_the_graph_is_built_with_the_documented_options(runner: str, tmp_path: Path) -> None:
    drawn = draw(documented(runner), tmp_path)
    assert drawn["runner"] == runner
    for name, graph in drawn["graphs"].items():
        assert PAR_DO in urns(graph)
        assert GROUP_BY_KEY in urns(graph), name
    (environment,) = drawn["graphs"]["shuffle"]["components"]["environments"].values()
    assert environment["urn"] == "beam:env:docker:v1"
    assert not (tmp_path / "out").exists()


def test_keys_of_every_shuffle_have_a_coder_that_is_beams_own(tmp_path: Path) -> None:
    for graph in draw([], tmp_path)["graphs"].values():
        coders = graph["components"]["coders"]
        for transform in graph["components"]["transforms"].values():
            if transform.get("spec", {}).get("urn") == GROUP_BY_KEY:
                source = graph["components"]["pcollections"][next(iter(transform["inputs"].values()))]
                pair = coders[source["coderId"]]
                key = coders[pair["componentCoderIds"][0]]["spec"]["urn"]
                assert key in ("beam:coder:string_utf8:v1", "beam:coder:varint:v1", "beam:coder:bytes:v1"), transform


def test_options_that_beam_refuses_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--runner", "FlinkRunner", "--environment_type=PROCESS"]
    code = main(["default", "--input", "x", "--output", "y", "--graph", str(tmp_path / "g"), *options])
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert code == 2
    assert said.startswith("curate: Beam's options: ")
    assert "process_command" in said
