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

LINKS = ("filters", "models", "beam_jobs", "configs")
"""Folders at the top of the checkout that are packages, or data, of the one package."""
THESAURUS = "obelics_pipeline/demo/thesaurus.dat"


def below(folder: str, pattern: str = "*") -> set[str]:
    """Files of the checkout below a folder, as the wheel has them."""
    found = (path for path in (ROOT / folder).rglob(pattern) if path.is_file() and "__pycache__" not in path.parts)
    return {installed_as(path.relative_to(ROOT).as_posix()) for path in found}


def installed_as(name: str) -> str:
    """Where a file of the checkout is in the package."""
    return f"obelics_pipeline/{name}" if name.split("/")[0] in LINKS else name


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


@pytest.mark.parametrize("folder", ["obelics_pipeline", *LINKS])
def test_the_wheel_carries_every_module(wheel_files: set[str], folder: str) -> None:
    assert below(folder, "*.py") <= wheel_files


@pytest.mark.parametrize("name", LINKS)
def test_the_folders_at_the_top_are_linked_into_the_package(name: str) -> None:
    assert os.readlink(ROOT / "obelics_pipeline" / name) == f"../{name}"


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for top in ("obelics_pipeline", *LINKS) for path in (ROOT / top).rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_wheel_carries_the_configs(wheel_files: set[str]) -> None:
    configs = below("configs", "*.yaml")
    assert configs
    assert configs <= wheel_files


def test_the_wheel_carries_the_word_lists(wheel_files: set[str]) -> None:
    words = below("filters/words")
    assert words
    assert words <= wheel_files


def test_the_wheel_carries_the_models_and_what_they_are_made_with(wheel_files: set[str]) -> None:
    data = below("models", "*.json") | below("models", "*.npz") | below("obelics_pipeline/fit", "*.txt")
    data |= below("models/kenlm") | below("models/quality")
    named = {
        "models/main_content.json",
        "models/page_type.json",
        "fit/farm_detector/irregular.txt",
        "fit/farm_detector/second/grammars.txt",
    }
    named |= {f"models/kenlm/en.{ending}" for ending in ("arpa.bin", "sp.model", "json")}
    named |= {f"models/quality/{name}" for name in ("en.ftz", "en.json", "farm_texts.json")}
    named |= {f"fit/farm_detector/wording/{language}.txt" for language in ("en", "de", "fr", "es", "it", "pt", "ru")}
    named = {f"obelics_pipeline/{name}" for name in named}
    assert named <= data <= wheel_files


def test_the_wheel_carries_the_demo_site(wheel_files: set[str]) -> None:
    assert below("obelics_pipeline/demo/site") | {THESAURUS} <= wheel_files


def test_the_wheel_carries_the_pages(wheel_files: set[str]) -> None:
    pages = below("obelics_pipeline/inspect/tune/page") | below("obelics_pipeline/inspect/explain", "page.*")
    assert (
        {"obelics_pipeline/inspect/tune/page/index.html", "obelics_pipeline/inspect/tune/page/tune.js"}
        <= pages
        <= wheel_files
    )


def test_the_wheel_tells_type_checkers_that_it_is_typed(wheel_files: set[str]) -> None:
    assert "obelics_pipeline/py.typed" in wheel_files


def test_the_wheel_holds_one_name_and_nothing_else(wheel_files: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_files}
    assert tops - {top for top in tops if top.endswith(".dist-info")} == {"obelics_pipeline"}
    assert not [name for name in wheel_files if "__pycache__" in name]


def test_the_command_is_declared(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "obelics = obelics_pipeline.cli.main:main" in archive.read(name).decode().splitlines()


def test_name_version_licence_and_python_are_stated(metadata: Message, wheel_files: set[str]) -> None:
    from obelics_pipeline import __version__

    assert metadata["Name"] == "obelics-pipeline"
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel_files)


def test_an_installed_package_finds_its_own_configs(installed: Path) -> None:
    code = (
        "from obelics_pipeline.core.config.run import load_config\n"
        "from obelics_pipeline.core.config.yaml_file import bundled_configs\n"
        "print(bundled_configs())\n"
        "for path in bundled_configs().glob('*.yaml'): load_config(path.stem)"
    )
    assert run_installed(installed, code).strip() == str(installed / "obelics_pipeline" / "configs")


@pytest.mark.parametrize("package", ["obelics_pipeline", *(f"obelics_pipeline.{n}" for n in LINKS if n != "configs")])
def test_an_installed_package_is_the_one_imported(installed: Path, package: str) -> None:
    printed = run_installed(installed, f"import {package}; print({package}.__file__)")
    assert printed.strip() == str(installed.joinpath(*package.split("."), "__init__.py"))


def test_folders_of_a_lab_that_are_called_like_ours_get_in_nobodys_way(installed: Path, tmp_path: Path) -> None:
    """A lab has `models` and `filters` of its own, in the folder in which it works."""
    for name in ("models", "filters"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"WHOSE = 'the lab, {name}'")
    code = "import filters, models; from obelics_pipeline.filters import build; print(models.WHOSE, filters.WHOSE)"
    for command in (["-c", code], ["-m", "obelics_pipeline", "--version"]):
        done = subprocess.run(
            [sys.executable, *command],
            env={**os.environ, "PYTHONPATH": f".:{installed}"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


def test_an_installed_package_scores_with_its_own_models(installed: Path) -> None:
    code = (
        "from obelics_pipeline.filters import Text, build\n"
        "print(build('quality_score').score(Text('The old house by the sea.', 'en')) is not None)"
    )
    assert run_installed(installed, code).strip() == "True"


def test_the_source_distribution_carries_every_file_of_the_repository(sdist_files: set[str]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git repository here")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    of_the_repository_alone = {"", *(f"obelics_pipeline/{name}" for name in LINKS)}
    hidden = {name for name in listed if name.startswith(".")}  # CI, git and editors read these
    assert {installed_as(name) for name in set(listed) - of_the_repository_alone - hidden} <= sdist_files
    assert not [name for name in sdist_files if name.split("/")[0] in ("filters", "models", "beam_jobs")]


@pytest.mark.slow
def test_what_a_source_distribution_installs_is_what_the_checkout_does(
    sdist: Path, wheel_files: set[str], tmp_path: Path
) -> None:
    """Beam's workers, and packagers, build from it: the links of the checkout are folders there."""
    with zipfile.ZipFile(build_wheel(sdist, tmp_path)) as archive:
        assert set(archive.namelist()) == wheel_files


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_a_machine_with_a_compiler_gets_the_compiled_statistics(wheel_files: set[str]) -> None:
    assert [
        name
        for name in wheel_files
        if name.startswith("obelics_pipeline/filters/_statistics.") and name.endswith(".so")
    ]


@pytest.mark.slow
def test_a_machine_without_a_compiler_gets_the_python_statistics(source: Path, tmp_path: Path) -> None:
    shutil.rmtree(source / "build", ignore_errors=True)  # what a build with a compiler left
    wheel = build_wheel(source, tmp_path, CC="false")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "obelics_pipeline/filters/pure.py" in names
    assert not [name for name in names if name.endswith(".so")]
