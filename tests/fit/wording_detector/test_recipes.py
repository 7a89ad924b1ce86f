"""Each recipe makes a detector by one command, which says what it finds of strangers."""

import json
import re
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.fit.wording_detector.farms import FORMS
from obelics_pipeline.fit.wording_detector.recipes import PHRASING
from obelics_pipeline.models.wording_detector.detector import WordingDetector
from tests.fit.farm_detector.small import texts

pytest.importorskip("lightgbm")


def written(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


LEARNED_WITHOUT_DICTIONARIES = {
    "wording-detector": {"words_out_of_order"},
    "phrasing-detector": set(PHRASING.learned) - {"translating", "glossing"},
}
OWN = {"wording-detector": set(), "phrasing-detector": {FORMS}}


@pytest.mark.parametrize("command", LEARNED_WITHOUT_DICTIONARIES)
def test_a_detector_is_made_and_what_it_finds_of_strangers_is_told(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted = written(tmp_path / "trusted.jsonl", [{"text": text} for text in texts()])
    made, again = tmp_path / "made.npz", tmp_path / "again.npz"
    for output in (made, again):
        arguments = ["fit", command, "--trusted", str(trusted), "--documents", "400"]
        assert main([*arguments, "--output", str(output)]) == 0
    assert made.read_bytes() == again.read_bytes()
    printed = capsys.readouterr().out
    assert re.search(r"^words_out_of_order: [01]\.\d+ of \d+ found where 1 %", printed, re.M)
    about = WordingDetector.load(made).about
    assert set(about["families"]) == LEARNED_WITHOUT_DICTIONARIES[command]
    assert set(about["recall"]) == {*about["families"], *OWN[command]}
    assert "babble" in about["recall_left_out"] and "words_out_of_order" not in about["recall_left_out"]
    assert f"babble: {about['recall_left_out']['babble']:.3f}" in printed
