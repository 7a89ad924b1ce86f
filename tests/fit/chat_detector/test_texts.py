"""Which rows are read, and how much each text weighs."""

import json
from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.fit.chat_detector.texts import PEOPLE, TRUSTED, LabelledText, fair_weights, labelled, trusted
from obelics_pipeline.fit.texts import text_files

LONG = "word " * 60


def write(path: Path, *rows: object) -> list[str]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return [str(path)]


def test_rows_without_what_is_needed_are_skipped_and_counted(tmp_path: Path) -> None:
    (file,) = text_files(
        write(
            tmp_path / "a.jsonl",
            {"id": "a", "text": LONG, "label": 1, "generator": "talker", "domain": "news"},
            {"text": LONG, "label": 0, "generator": "somebody"},
            {"text": LONG, "label": 1},
            {"text": LONG},
            {"text": "few words", "label": 0},
            {"label": 0},
        )
    )
    form = " ".join(["word"] * 60)
    assert labelled([file], []) == [LabelledText(form, "talker", "news", "a"), LabelledText(form, PEOPLE, "")]
    reasons = {"without a label and a generator": 2, "of fewer than 50 words": 1, "without text": 1}
    assert dict(file.skipped) == reasons


def test_of_machines_only_the_named_generators_are_read(tmp_path: Path) -> None:
    rows = [{"text": LONG, "label": int(name != "people"), "generator": name} for name in ("a", "b", "people")]
    files = text_files(write(tmp_path / "a.jsonl", *rows))
    assert [one.generator for one in labelled(files, ["b"])] == ["b", PEOPLE]


def test_trusted_texts_are_peoples(tmp_path: Path) -> None:
    files = text_files(write(tmp_path / "a.jsonl", {"text": LONG}, {"text": "few words"}))
    assert [(one.generator, one.domain) for one in trusted(files)] == [(PEOPLE, TRUSTED)]


def test_both_kinds_and_all_cells_of_a_kind_weigh_the_same() -> None:
    cells = [(PEOPLE, "news")] * 300 + [(PEOPLE, "law")] * 150 + [("talker", "news")] * 200 + [("writer", "law")] * 400
    weights = fair_weights([LabelledText("", *cell) for cell in cells])
    of_cells = [weights[np.array([one == cell for one in cells])].sum() for cell in dict.fromkeys(cells)]
    assert of_cells == pytest.approx([0.25] * 4)


def test_a_text_of_a_small_cell_weighs_a_hundredth_at_most() -> None:
    cells = [("talker", "news")] * 10 + [("writer", "law")] * 400 + [(PEOPLE, "news")]
    weights = fair_weights([LabelledText("", *cell) for cell in cells])
    assert weights[:10].sum() / weights[10:410].sum() == pytest.approx(0.1 / 0.5)
