"""What SECURITY.md promises is tested, and code that runs what others wrote does not pass the linter."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text("utf-8"))))

DANGEROUS = {
    "eval": "eval(given)",
    "exec": "exec(given)",
    "pickle": "import pickle\npickle.loads(given)",
    "yaml": "import yaml\nyaml.load(given, Loader=yaml.Loader)",
    "extractall": "import tarfile\ntarfile.open(given).extractall()",
    "shell": "import subprocess\nsubprocess.run(given, shell=True)",
    "system": "import os\nos.system(given)",
    "certificates": "import requests\nrequests.get(given, verify=False, timeout=1)",
}


def test_the_threat_model_names_tests() -> None:
    assert len(NAMED) > 25


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_test_that_a_line_names_is_there(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("kind", DANGEROUS)
def test_the_linter_refuses_what_runs_code_of_others(kind: str) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--stdin-filename", "obelics_pipeline/made_up.py", "-"]
    done = subprocess.run(command, input=DANGEROUS[kind], capture_output=True, text=True, check=False, cwd=ROOT)
    assert re.search(r"\bS\d{3}\b", done.stdout), done.stdout + done.stderr
