"""The files that keep habits name what is there: make targets, folders of tests, the linter's version, our own."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from obelics_pipeline import __version__

from .conftest import ROOT
from .test_dependencies import pins

WORKFLOW = ROOT / ".github/workflows/ci.yml"
PRE_COMMIT = ROOT / ".pre-commit-config.yaml"
CITATION = ROOT / "CITATION.cff"
OF_THE_REPOSITORY = pytest.mark.skipif(not WORKFLOW.is_file(), reason="a source distribution has no .github")


def targets() -> dict[str, list[str]]:
    """Each target of the Makefile with the targets that it needs."""
    rules = re.findall(r"^([a-z][a-z-]*):(?!=)(.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    return {name: needs.split() for name, needs in rules}


def made(text: str) -> set[str]:
    """The make targets that a script calls."""
    return set(re.findall(r"(?:^|\s)make ([a-z][a-z-]*)", text))


def steps(job: dict[str, Any]) -> str:
    """The commands of a job."""
    return "\n".join(step.get("run", "") for step in job["steps"])


def jobs() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    return found


@OF_THE_REPOSITORY
@pytest.mark.parametrize("path", sorted([*(ROOT / ".github").rglob("*.yml"), PRE_COMMIT, CITATION]), ids=str)
def test_every_file_parses(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text("utf-8")), dict)


@OF_THE_REPOSITORY
def test_the_workflow_calls_make_targets_that_exist() -> None:
    for name, job in jobs().items():
        called = made(steps(job))
        assert called, f"the job {name} calls no make target"
        assert called <= set(targets()), name


@OF_THE_REPOSITORY
def test_the_workflow_checks_all_that_the_script_does() -> None:
    script = "\n".join(
        line for line in (ROOT / ".ci/run").read_text("utf-8").splitlines() if not line.startswith(("#", "step "))
    )
    of_jobs = set().union(*(made(steps(job)) for job in jobs().values()))
    for target in made(script):
        needed = [name for name in targets()[target] if name in targets()]
        assert target in of_jobs or (needed and set(needed) <= of_jobs), target


@OF_THE_REPOSITORY
def test_each_folder_of_tests_is_in_one_part_of_the_slow_job() -> None:
    parts = " ".join(jobs()["slow"]["strategy"]["matrix"]["tests"]).split()
    there = {f"tests/{path.name}" for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py"))}
    assert sorted(parts) == sorted(there)


def test_contributors_are_told_of_make_targets_that_exist() -> None:
    assert made((ROOT / "CONTRIBUTING.md").read_text("utf-8").replace("`", " ")) <= set(targets())


@OF_THE_REPOSITORY
def test_the_hooks_lint_with_the_version_that_make_lint_uses() -> None:
    repositories = yaml.safe_load(PRE_COMMIT.read_text("utf-8"))["repos"]
    (ruff,) = (repository for repository in repositories if repository["repo"].endswith("/ruff-pre-commit"))
    assert ruff["rev"] == f"v{pins()['ruff']}"
    assert all(re.fullmatch(r"v[\d.]+", repository["rev"]) for repository in repositories)


def test_the_citation_is_of_this_version() -> None:
    assert yaml.safe_load(CITATION.read_text("utf-8"))["version"] == __version__
