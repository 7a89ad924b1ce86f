"""The benchmark of content farms tells the speed of each column and of all together."""

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks import content_farms
from tests.models.farm_detector.small import detector


def test_it_prints_a_table_for_each_column_and_the_speed_of_all_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    detector().save(tmp_path / "small.npz")
    write_bench(tmp_path / "bench.jsonl")
    columns = ["--columns", "farm_score", "word_count", "--detector", str(tmp_path / "small.npz")]
    monkeypatch.setattr(sys, "argv", ["content_farms", str(tmp_path / "bench.jsonl"), *columns])
    content_farms.main()
    said = capsys.readouterr().out
    assert re.findall(r"^== (\w+): 12 documents, 0 without a score$", said, re.M) == ["farm_score", "word_count"]
    assert len(re.findall(r"^\d+ documents/s of one core, [\d.]+ ms each$", said, re.M)) == 2
    together = r"== farm_score \+ word_count: \d+ documents/s of one core, [\d.]+ ms each"
    assert re.fullmatch(together, said.splitlines()[-1])


def test_without_options_the_columns_are_those_of_the_models_that_the_package_ships(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kenlm")
    columns = ["perplexity", "worse_than_unigram_ratio", "quality_score", "farm_score"]
    bench = str(write_bench(tmp_path / "bench.jsonl"))
    monkeypatch.setattr(sys, "argv", ["content_farms", bench, "--columns", *columns])
    content_farms.main()
    said = capsys.readouterr().out
    assert re.findall(r"^== (\w+): 12 documents, 0 without a score$", said, re.M) == columns


def write_bench(path: Path) -> Path:
    rows = [
        {"id": f"{generator}{number}", "label": 0, "generator": generator, "text": f"old boat {'house ' * number}" * 40}
        for generator in ("clean", "hard_list", "spun")
        for number in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return path
