"""The project as pip builds it, made once: a wheel and a source distribution of a copy of the checkout."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CARRIED = (
    *("obelics_pipeline", "filters", "models", "beam_jobs", "configs", "docs", "benchmarks", "examples", "tests"),
    *("setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "Makefile", "constraints.txt"),
    *("README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "mkdocs.yml"),
)


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean copy of what is built, so that a build leaves nothing in the checkout."""
    copy = tmp_path_factory.mktemp("packaging") / "source"
    leave = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
    for name in CARRIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=leave)
        elif (ROOT / name).is_file():
            shutil.copy(ROOT / name, copy / name)
    return copy


def build_wheel(source: Path, into: Path, **environment: str) -> Path:
    """The wheel of a source tree, built with the setuptools of this environment, offline."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", str(into)]
    subprocess.run([*command, str(source)], check=True, env={**os.environ, **environment}, capture_output=True)
    (wheel,) = into.glob("obelics_pipeline-*.whl")
    return wheel


@pytest.fixture(scope="session")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `pip install .` would install."""
    return build_wheel(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def wheel_files(wheel: Path) -> set[str]:
    """Paths inside the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Message:
    """The METADATA of the wheel: what pip reads."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode())


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel alone is installed."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return target


@pytest.fixture(scope="session")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, made as Beam makes it for `--setup_file`."""
    into = tmp_path_factory.mktemp("sdist")
    subprocess.run(
        [sys.executable, "setup.py", "-q", "sdist", "-d", str(into)], check=True, cwd=source, capture_output=True
    )
    (archive,) = into.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="session")
def sdist_files(sdist: Path) -> set[str]:
    """Paths inside the source distribution, without its top folder."""
    with tarfile.open(sdist) as tar:
        return {name.partition("/")[2] for name in tar.getnames()}
