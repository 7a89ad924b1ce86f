"""One command makes a detector of exchanged words, says what it finds of strangers, and the filter scores with it."""

import json
import re
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.models.wording_detector.detector import WordingDetector
from tests.fit.farm_detector.small import texts

pytest.importorskip("lightgbm")


def written(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_detector_is_made_and_what_it_finds_of_strangers_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted = written(tmp_path / "trusted.jsonl", [{"text": text} for text in texts()])
    made, again = tmp_path / "made.npz", tmp_path / "again.npz"
    for output in (made, again):
        arguments = ["fit", "wording-detector", "--trusted", str(trusted), "--documents", "400"]
        assert main([*arguments, "--output", str(output)]) == 0
    assert made.read_bytes() == again.read_bytes()
    printed = capsys.readouterr().out
    assert re.search(r"^words_out_of_order: [01]\.\d+ of \d+ found where 1 %", printed, re.M)
    about = WordingDetector.load(made).about
    assert about["families"] == ["words_out_of_order"]  # the others need dictionaries
    assert "splicing" in about["recall_left_out"] and "words_out_of_order" not in about["recall_left_out"]
    assert f"splicing: {about['recall_left_out']['splicing']:.3f}" in printed


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ([{"text": "x"}], ["--leave-out", "spining"], "family spining: unknown"),
        ([{"text": "x"}], [], "too few"),
        ([{"text": "x"}], ["--unusual", "missing.jsonl"], r"missing\.jsonl: there is no such file"),
    ],
)
def test_wrong_input_is_one_line(
    rows: list[object], more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted = written(tmp_path / "trusted.jsonl", rows)
    output = tmp_path / "made.npz"
    assert main(["fit", "wording-detector", "--trusted", str(trusted), "--output", str(output), *more]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(said, line), line
    assert not output.exists()
