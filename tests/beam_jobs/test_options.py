"""Beam's options pass through; only where none names a runner, one is named that downloads nothing."""

import pytest

from obelics_pipeline.beam_jobs.options import local_options, runner_of, runs_here, with_runner


@pytest.mark.parametrize("given", [["--runner", "FlinkRunner", "--flink_master=x:1"], ["--runner=DirectRunner"]])
def test_a_runner_that_is_named_is_left_alone(given: list[str]) -> None:
    assert with_runner(given) == given


def test_without_a_name_the_runner_is_the_one_that_downloads_nothing() -> None:
    assert runner_of(["--direct_num_workers=2"]) == "FnApiRunner"
    assert runner_of(local_options(1)) == runner_of(local_options(3)) == "FnApiRunner"


@pytest.mark.parametrize(
    ("runner", "here"), [("FnApiRunner", True), ("directrunner", True), ("FlinkRunner", False), ("a.b.Own", False)]
)
def test_a_pipeline_is_watched_over_where_it_runs_on_this_machine(runner: str, here: bool) -> None:
    assert runs_here([f"--runner={runner}"]) is here
