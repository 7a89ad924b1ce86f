"""The benchmark of the heads' costs prints what each takes of a page, and cuts pages of one length."""

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks import head_costs
from obelics_pipeline.models.farm_heads.panel import Panel

TEXT = "The old boat lay in the harbour for years. Nobody knew who had left it there. "


def test_pages_have_one_length_and_keep_their_lines() -> None:
    assert list(head_costs.pages(["a b\nc d e", "f", "g", "h i"], 3)) == ["\n\na b\nc", "\n\nf\n\ng\n\nh"]
    assert list(head_costs.pages(["a b"], 3)) == []


def test_each_head_has_a_row_and_all_together_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"label": label, "text": TEXT * 10} for label in (0, 0, 1)]
    (tmp_path / "bench.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    monkeypatch.setattr(sys, "argv", ["head_costs", str(tmp_path / "bench.jsonl"), "--words", "120"])
    head_costs.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[: len(lines) // 2]] == [
        "honest, 2 pages",
        *(head.kind.name for head in Panel.of("en", []).heads),
        "heads together",
        "farm_score",
    ]
    cells = [re.split(r" {2,}", line) for line in lines]
    assert cells[len(lines) // 2][0] == "farms, 1 pages"
    first = cells[1]  # the cheapest head is asked about all pages
    assert float(first[2]) == 1 and float(first[1]) == float(first[3]) > 0
    together = sum(float(row[3]) for row in cells[1 : len(lines) // 2 - 2])
    assert float(cells[len(lines) // 2 - 2][1]) == pytest.approx(together, abs=0.01)
