"""A slow twin in use is named, with why, and how to mend it."""

import subprocess
import sys

import pytest

from obelics_pipeline.jobs import compiled_parts
from obelics_pipeline.jobs.compiled_parts import PARTS, slow_parts
from obelics_pipeline.stages.extract import simplify

COMPILED = all(room.COMPILED for room in PARTS.values())


@pytest.mark.skipif(not COMPILED, reason="there is no C compiler")
def test_nothing_is_said_where_all_is_compiled() -> None:
    assert slow_parts() == []


def test_every_extension_of_setup_py_is_asked_about() -> None:
    from tests.packaging.conftest import ROOT

    tops = ("obelics_pipeline", "obelics_pipeline/filters", "obelics_pipeline/models")  # a link is not walked through
    paths = {path.relative_to(ROOT) for top in tops for path in (ROOT / top).glob("**/_*.c")}
    sources = {str(path.with_suffix("")).replace("/", ".") for path in paths}
    assert set(PARTS) == sources


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_was_not_built_is_named_with_why_and_how_to_mend_it(name: str) -> None:
    code = f"import sys; sys.modules[{name!r}] = None; from obelics_pipeline.jobs.compiled_parts import slow_parts; "
    done = subprocess.run([sys.executable, "-c", code + "print(*slow_parts(), sep='\\n')"], capture_output=True)
    (line,) = (line for line in done.stdout.decode().splitlines() if f" {name}" in line)
    assert "not built; install obelics-pipeline again where there is a C compiler" in line


def test_another_selectolax_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplify, "COMPILED", False)
    monkeypatch.setattr(simplify, "SELECTOLAX", "1.1.0")
    (line,) = (line for line in slow_parts() if "_simplify" in line)
    assert "selectolax 1.1.0 is installed" in line
    assert "pip install 'selectolax==1.0.*'" in line


def test_parts_of_one_cause_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for room in PARTS.values():
        monkeypatch.setattr(room, "COMPILED", False)
    monkeypatch.setattr(compiled_parts, "_cause", lambda name: "not built")
    (line,) = slow_parts()
    assert all(name in line for name in PARTS)
