"""A person's type checker must understand the public names."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USES = Path(__file__).parent / "uses.py"


def checked(*command: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", *command, str(USES)], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_mypy_finds_nothing_wrong() -> None:
    code, said = checked("mypy", "--strict", "--no-error-summary")
    assert (code, said) == (0, "")


@pytest.mark.slow
def test_pyright_finds_nothing_wrong(tmp_path: Path) -> None:
    pytest.importorskip("basedpyright")
    shutil.copy(USES, tmp_path / "uses.py")
    project = tmp_path / "pyrightconfig.json"
    settings = {
        "typeCheckingMode": "standard",
        "extraPaths": [str(ROOT)],
        "venvPath": str(Path(sys.prefix).parent),
        "venv": Path(sys.prefix).name,
    }
    project.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--project", str(project)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
