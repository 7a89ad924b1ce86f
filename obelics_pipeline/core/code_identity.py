"""What a stage's bytes depend on beside its input and config: its sources, and the libraries that they import.

A unit's id holds it, so that a run that goes on after an upgrade mixes no output of two codes.
"""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from obelics_pipeline.core.unit import digest

PACKAGE = "obelics_pipeline"
_ROOT = Path(__file__).parents[1]
# Modules that carry bytes, settings or messages and make none of a document: tests/jobs/test_golden_run.py sees where
# that is not so. Configs count by their values.
CARRIERS = (
    "core.access", "core.code_identity", "core.config", "core.counted", "core.errors", "core.near", "core.ranged",
    "core.rates", "core.redacted", "core.storage",
)  # fmt: skip
CODE = (".py", ".pyi", ".pyc", ".c", ".so", ".pyd", ".typed")  # endings of files that do not count by lying there
# Libraries that units import and whose distributions have another name.
PUBLISHED_AS = {
    "PIL": "pillow", "sklearn": "scikit-learn", "stdnum": "python-stdnum", "upath": "universal_pathlib",
    "yaml": "PyYAML",
}  # fmt: skip
_IMPORT = re.compile(r"^( *)(?:from ([\w.]+) import (\([^)]*\)|[^\n(]*)|import ([\w., ]+))", re.MULTILINE)
_NAMED = re.compile(rf'"({PACKAGE}\.[\w.]+)"')  # a module that is imported by its name
_NAME = re.compile(r"(\w+)(?: as \w+)?")


@cache
def code_of(module: str) -> str:
    """The identity of a module's code: sixteen hexadecimal digits.

    It covers the source of the module and of every module of this package that it imports, at whatever depth, with the
    C file of a compiled one; what lies beside these, such as headers, word lists and models; the versions of the
    libraries that these import when they are imported themselves; and that of Unicode. It is the same in a checkout and
    in an installed package.
    """
    modules, libraries = _reached(module)
    files = {path for name in modules if (path := _source(name)) is not None}
    data = {path for folder in {file.parent for file in files} for path in _data_of(folder)}
    return digest(
        [[str(path.relative_to(_ROOT)), _content(path)] for path in sorted(files | data)],
        {name: _version(name) for name in sorted(libraries)},
        unicodedata.unidata_version,
    )


def _reached(module: str) -> tuple[set[str], set[str]]:
    """The modules of this package that a module reaches, itself among them, and the libraries that these import."""
    modules: set[str] = set()
    libraries: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in modules or _is_carrier(name):
            continue
        modules.add(name)
        own, others = _imports(name)
        waiting += own
        libraries |= others
    return modules, libraries


def _is_carrier(name: str) -> bool:
    return any(name == f"{PACKAGE}.{carrier}" or name.startswith(f"{PACKAGE}.{carrier}.") for carrier in CARRIERS)


@cache
def _imports(module: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a module imports: modules of this package, and libraries at its top level."""
    path = _source(module)
    if path is None or path.suffix != ".py":
        return frozenset(), frozenset()
    own, libraries = set[str](), set[str]()
    text = path.read_text(encoding="utf-8")
    own |= {name for name in _NAMED.findall(text) if _source(name) is not None}
    for indent, parent, names, plain in _IMPORT.findall(text):
        targets = list(_targets(parent, names)) if parent else [name.strip().split(" ")[0] for name in plain.split(",")]
        for target in targets:
            first = target.partition(".")[0]
            if first == PACKAGE:
                own.add(target if _source(target) is not None else target.rpartition(".")[0])
            elif not indent and first not in sys.stdlib_module_names:
                libraries.add(first)
    return frozenset(own - {PACKAGE}), frozenset(libraries)


def _targets(parent: str, names: str) -> Iterator[str]:
    """`from parent import names`: each name may be a module of its own."""
    for line in names.strip("()").split("\n"):
        for name, *_ in (found.groups() for found in _NAME.finditer(line.partition("#")[0])):
            yield f"{parent}.{name}"


@cache
def _source(module: str) -> Path | None:
    """The file of a module of this package: Python, or C where it is compiled; None for a name that is no module."""
    if not module.startswith(f"{PACKAGE}."):
        return None
    place = _ROOT.joinpath(*module.split(".")[1:])
    for path in (place.with_suffix(".py"), place / "__init__.py", place.with_suffix(".c")):
        if path.is_file():
            return path
    return None


@cache
def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _data_of(folder: Path) -> tuple[Path, ...]:
    """The files of a package that no import names, with those of folders below it that are no packages."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            found += _data_of(path)
        elif path.is_file() and path.suffix not in CODE:
            found.append(path)
    return tuple(found)


@cache
def _version(library: str) -> list[str]:
    """The distribution that brings a library, with its version; empty where it is not installed.

    It is found by its name: to look through what all installed distributions bring takes .6 s.
    """
    try:
        found = distribution(PUBLISHED_AS.get(library, library))
    except PackageNotFoundError:
        return []
    return [f"{found.name} {found.version}"]
