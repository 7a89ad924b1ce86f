"""One command makes a detector of texts, says what it is worth, and the filter scores with it."""

import json
import re
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.filters.farm_score import FarmScore
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.farm_detector.detector import Detector
from tests.fit.farm_detector.small import texts

pytest.importorskip("torch")
pytest.importorskip("lightgbm")


def written(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_detector_is_made_told_of_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trusted = written(tmp_path / "trusted.jsonl", [{"text": text} for text in texts()])
    output = tmp_path / "made.npz"
    arguments = ["fit", "detector", "--trusted", str(trusted), "--unusual", str(trusted), "--leave-out", "chains"]
    numbers = ["--steps", "100", "--documents", "400", "--workers", "1", "--language", "xx"]
    assert main([*arguments, *numbers, "--output", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "step 100 of 100: loss replaced" in printed
    assert "templates: " in printed
    assert re.search(
        r"^chains: [01]\.\d+ of \d+ found at this threshold, none of which it was trained on$", printed, re.M
    )
    made = Detector.load(output)
    assert made.about["recall"]["templates"] > 0.5
    assert "chains" not in made.about["recall"]
    assert set(made.about["recall_left_out"]) == {"chains"}
    assert made.about["trusted"][0]["texts"] == len(texts())
    again = tmp_path / "again.npz"
    assert main([*arguments, *numbers, "--forest-without-each", "--output", str(again)]) == 0
    assert again.read_bytes() == output.read_bytes()
    told = re.findall(r"^(\w+): [01]\.\d+ of \d+ found by a forest that saw none of it$", capsys.readouterr().out, re.M)
    assert told == sorted(made.about["recall"])
    assert "found by a forest" not in printed
    kept = tmp_path / "kept.npz"
    capsys.readouterr()
    assert main([*arguments, "--network", str(output), *numbers, "--output", str(kept)]) == 0
    few = int(re.findall(r"^(\d+) texts for the forest", capsys.readouterr().out, re.M)[0])
    assert few < len(texts()) / 2  # of a file that the network learned from, what was set aside
    alike, other = (
        Detector.load(kept),
        written(tmp_path / "other.jsonl", [{"text": f"{text} " * 2} for text in texts()]),
    )
    assert alike.about["network"]["steps"] == 100
    assert alike.score(honest := texts()[3]) == made.score(honest)
    fresh = ["fit", "detector", "--trusted", str(other), "--network", str(output), "--documents", "200"]
    assert main([*fresh, "--output", str(kept)]) == 0
    assert f"{len(texts())} texts for the forest" in capsys.readouterr().out
    stuffed = "Best boat in Leeds 2020. You can buy boat online or at a boat store near you. " * 8
    scorer = FarmScore(paths={"xx": str(output)})
    assert (scorer.score(Text(stuffed, "xx")) or 0) > (scorer.score(Text(honest, "xx")) or 1)


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ([{"text": "x"}], ["--unusual", "missing.jsonl"], r"missing\.jsonl: there is no such file"),
        ([{"text": 7}], [], "too few"),
        ([{"text": "x"}], ["--leave-out", "spining"], "family spining: unknown"),
        ([{"text": "x"}], ["--thesaurus", "missing.dat"], r"missing\.dat: not a MyThes file"),
        ([{"text": "x"}], ["--dictionary", "a.index", "b.index"], r"[ab]\.index: not dictd's"),
        ([{"text": "x"}], [], "too few"),
        ([], [], "too few"),
    ],
)
def test_wrong_input_is_one_line(
    rows: list[object], more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted = written(tmp_path / "trusted.jsonl", rows)
    output = tmp_path / "made.npz"
    assert main(["fit", "detector", "--trusted", str(trusted), "--output", str(output), *more]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(said, line), line
    assert not output.exists()
