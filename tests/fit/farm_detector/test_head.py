"""The commands that make a head refuse wrong input in one line, and write nothing."""

import json
import re
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main

pytest.importorskip("lightgbm")


@pytest.mark.parametrize("command", ["wording-detector", "phrasing-detector", "coherence-detector"])
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--leave-out", "spining"], "family spining: unknown"),
        ([], "too few"),
        (["--unusual", "missing.jsonl"], r"missing\.jsonl: there is no such file"),
    ],
)
def test_wrong_input_is_one_line(
    command: str, more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted, output = tmp_path / "trusted.jsonl", tmp_path / "made.npz"
    trusted.write_text(json.dumps({"text": "x"}) + "\n", encoding="utf-8")
    assert main(["fit", command, "--trusted", str(trusted), "--output", str(output), *more]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(said, line), line
    assert not output.exists()
