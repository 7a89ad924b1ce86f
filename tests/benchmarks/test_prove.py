"""The proof by open_flamingo's own trainer: what it is given is found, and "proved" is said only where all was."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "open_flamingo" / "prove.sh"
PARTS = ("export", "validate", "texts", "tiny_models.py", "placement.py", "torchrun")

OBELICS = """#!/bin/sh
[ "$FAILS" = "$1" ] && exit 1
if [ "$1" = export ]; then
    [ -d "$2/shards" ] || exit 1
    mkdir -p "$6/shards" "$6/laion" && touch "$6/shards/shard-000003.tar" "$6/laion/laion-000001.tar"
fi
exit 0
"""
PYTHON = """#!/bin/sh
case "$1" in -) name=texts ;; *) name=$1 ;; esac
[ "$FAILS" = "$name" ] && exit 1
[ "$name" = texts ] && { [ -d "$2/shards" ] || exit 1; }
echo "{}"
"""
TORCHRUN = """#!/bin/sh
[ "$FAILS" = torchrun ] && exit 1
echo "$@"
echo "Total training steps: 10"
"""


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    """A run and an environment whose programs do nothing, and fail where FAILS names them."""
    (tmp_path / "run" / "shards").mkdir(parents=True)
    (tmp_path / "env" / "bin").mkdir(parents=True)
    for name, text in (("obelics", OBELICS), ("python", PYTHON), ("torchrun", TORCHRUN)):
        path = tmp_path / "env" / "bin" / name
        path.write_text(text)
        path.chmod(0o755)
    return tmp_path


def prove(stage: Path, *arguments: str, fails: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OBELICS": str(stage / "env" / "bin" / "obelics"), "FAILS": fails}
    command = ["bash", str(SCRIPT), *arguments]
    return subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True, timeout=60)


def test_paths_may_be_relative(stage: Path) -> None:
    done = prove(stage, "run", "env", "new/made")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "proved"), done.stderr
    log = (stage / "new" / "made" / "train.log").read_text()
    assert f"{stage}/new/made/export/shards/shard-{{000000..000003}}.tar" in log


@pytest.mark.parametrize("part", PARTS)
def test_it_ends_with_1_at_whatever_fails(stage: Path, part: str) -> None:
    done = prove(stage, "run", "env", "work", fails=part)
    assert done.returncode == 1 and "proved\n" not in done.stdout.replace("nothing is proved", "")


def test_what_is_not_there_is_refused(stage: Path) -> None:
    assert prove(stage, "nowhere", "env", "work").returncode == 1
    assert prove(stage, "run").returncode == 2
