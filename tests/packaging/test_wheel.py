"""What an installed package must carry, and that it finds it when no checkout is near."""

import os
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from .conftest import ROOT, build_wheel

PACKAGES = [
    name for name in ("obelics_pipeline", "filters", "models", "beam_jobs") if (ROOT / name / "__init__.py").is_file()
]

THESAURUS = "obelics_pipeline/demo/thesaurus.dat"


def below(folder: str, pattern: str = "*") -> set[str]:
    """Files of the checkout below a folder, relative to the checkout."""
    found = (path for path in (ROOT / folder).rglob(pattern) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in found}


def run_installed(installed: Path, code: str) -> str:
    """What a line of Python prints where only the installed wheel, and no checkout, is in the way."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=installed.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_carries_every_module(wheel_files: set[str], package: str) -> None:
    assert below(package, "*.py") <= wheel_files


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_wheel_carries_the_configs(wheel_files: set[str]) -> None:
    configs = {f"obelics_pipeline/{name}" for name in below("configs", "*.yaml")}
    assert configs
    assert configs <= wheel_files


def test_the_wheel_carries_the_word_lists(wheel_files: set[str]) -> None:
    words = below("filters/words")
    assert words
    assert words <= wheel_files


def test_the_wheel_carries_the_models_and_what_they_are_made_with(wheel_files: set[str]) -> None:
    data = below("models", "*.json") | below("models", "*.npz") | below("obelics_pipeline/fit", "*.txt")
    data |= below("models/kenlm") | below("models/quality")
    named = {"models/main_content.json", "obelics_pipeline/fit/farm_detector/irregular.txt"}
    named |= {f"models/kenlm/en.{ending}" for ending in ("arpa.bin", "sp.model", "json")}
    named |= {f"models/quality/{name}" for name in ("en.ftz", "en.json", "farm_texts.json")}
    assert named <= data <= wheel_files


def test_the_wheel_carries_the_demo_site(wheel_files: set[str]) -> None:
    assert below("obelics_pipeline/demo/site") | {THESAURUS} <= wheel_files


def test_the_wheel_carries_the_pages(wheel_files: set[str]) -> None:
    pages = below("obelics_pipeline/tune/page") | below("obelics_pipeline/explain", "page.*")
    assert {"obelics_pipeline/tune/page/index.html", "obelics_pipeline/tune/page/tune.js"} <= pages <= wheel_files


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_tells_type_checkers_that_it_is_typed(wheel_files: set[str], package: str) -> None:
    assert f"{package}/py.typed" in wheel_files


def test_the_wheel_holds_nothing_else(wheel_files: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_files}
    assert tops - {top for top in tops if top.endswith(".dist-info")} == set(PACKAGES)
    assert not [name for name in wheel_files if "__pycache__" in name]


def test_the_command_is_declared(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "obelics = obelics_pipeline.cli:main" in archive.read(name).decode().splitlines()


def test_name_version_licence_and_python_are_stated(metadata: Message, wheel_files: set[str]) -> None:
    from obelics_pipeline import __version__

    assert metadata["Name"] == "obelics-pipeline"
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel_files)


def test_an_installed_package_finds_its_own_configs(installed: Path) -> None:
    code = (
        "from obelics_pipeline.config.run import load_config\n"
        "from obelics_pipeline.config.yaml_file import bundled_configs\n"
        "print(bundled_configs())\n"
        "for path in bundled_configs().glob('*.yaml'): load_config(path.stem)"
    )
    assert run_installed(installed, code).strip() == str(installed / "obelics_pipeline" / "configs")


@pytest.mark.parametrize("package", PACKAGES)
def test_an_installed_package_is_the_one_imported(installed: Path, package: str) -> None:
    printed = run_installed(installed, f"import {package}; print({package}.__file__)")
    assert printed.strip() == str(installed / package / "__init__.py")


def test_an_installed_package_scores_with_its_own_models(installed: Path) -> None:
    code = (
        "from filters import Text, build\n"
        "print(build('quality_score').score(Text('The old house by the sea.', 'en')) is not None)"
    )
    assert run_installed(installed, code).strip() == "True"


def test_the_source_distribution_can_be_built_again(sdist_files: set[str]) -> None:
    needed = below("configs", "*.yaml") | below("filters/words") | below("obelics_pipeline", "*.py")
    needed |= (
        below("models/kenlm")
        | below("models/quality")
        | below("filters", "*.c")
        | below("obelics_pipeline/demo/site")
        | {THESAURUS}
    )
    assert needed | {"setup.py", "pyproject.toml", "LICENSE", "constraints.txt", "Makefile"} <= sdist_files


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_a_machine_with_a_compiler_gets_the_compiled_statistics(wheel_files: set[str]) -> None:
    assert [name for name in wheel_files if name.startswith("filters/_statistics.") and name.endswith(".so")]


@pytest.mark.slow
def test_a_machine_without_a_compiler_gets_the_python_statistics(source: Path, tmp_path: Path) -> None:
    shutil.rmtree(source / "build", ignore_errors=True)  # what a build with a compiler left
    wheel = build_wheel(source, tmp_path, CC="false")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "filters/pure.py" in names
    assert not [name for name in names if name.endswith(".so")]
