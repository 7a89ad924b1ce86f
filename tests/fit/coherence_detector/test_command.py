"""One command makes a detector of sentences that do not belong together, and says what it finds of strangers."""

import json
import re
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.models.coherence_detector.detector import CoherenceDetector
from tests.fit.farm_detector.small import THESAURUS, texts

pytest.importorskip("lightgbm")


def test_a_detector_is_made_and_what_it_finds_of_strangers_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted, thesaurus = tmp_path / "trusted.jsonl", tmp_path / "thesaurus.dat"
    trusted.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts()), encoding="utf-8")
    thesaurus.write_text(THESAURUS, encoding="utf-8")
    made = tmp_path / "made.npz"
    given = ["--trusted", str(trusted), "--thesaurus", str(thesaurus), "--documents", "300", "--leave-out", "second"]
    assert main(["fit", "coherence-detector", *given, "--output", str(made)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^splicing: [01]\.\d+ of \d+ found where 1 %", printed, re.M)
    about = CoherenceDetector.load(made).about
    assert "stitching" in about["recall_left_out"] and "splicing" not in about["recall_left_out"]
    assert f"stitching: {about['recall_left_out']['stitching']:.3f}" in printed
