import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.fit.example import make_example
from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.models.forest import Forest
from obelics_pipeline.stages.extract.main_content import decide
from obelics_pipeline.stages.extract.main_features import NAMES
from tests.fit.site import gold_rows, html, page, paragraphs, url, write_gold, write_warc
from tests.refused import refused

pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_warc(tmp_path_factory.mktemp("site"))


def fit(warc: Path, gold: Path, output: Path, *more: str) -> int:
    """The command, as a person gives it."""
    return main(["fit", "main-content", "--input", str(warc), "--gold", str(gold), "--output", str(output), *more])


def test_the_same_input_gives_the_same_file(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_gold(tmp_path, gold_rows(warc))
    said = []
    for name, workers in (("one.json", "1"), ("two.json", "2")):
        assert fit(warc, gold, tmp_path / name, "--folds", "3", "--workers", workers) == 0
        said.append(capsys.readouterr().out.replace(name, "MODEL"))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert said[0] == said[1]
    assert "12 pages of 6 domains; of 8 the article is known, of 3 some snippets" in said[0]


def test_the_model_finds_the_article_of_a_page_it_has_not_seen(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "model.json"
    assert fit(warc, write_gold(tmp_path, gold_rows(warc)), output, "--folds", "3", "--workers", "1") == 0
    said = capsys.readouterr().out
    (figures,) = [line.split()[-6:] for line in said.splitlines() if line.startswith("main content")]
    assert [float(figure) for figure in figures] == [100] * 6
    forest = Forest.load(output)
    assert forest.features == NAMES
    example = make_example(page(html(77), url(77)), Truth("x"))
    assert example is not None
    kept, confidence = decide(forest.log_odds(example.features), example.characters)
    assert [example.texts[number] for number in np.flatnonzero(kept).tolist()] == paragraphs(77)
    assert confidence > 0.8


def test_rows_of_other_pages_are_refused(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_gold(tmp_path, [{"url": "http://other.example/", "article_text": "A"}])
    assert "no row is of a page of the input" in refused(capsys, fit(warc, gold, tmp_path / "m.json", "--workers", "1"))


def test_two_rows_of_a_page_are_refused(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_gold(tmp_path, [{"url": url(0), "article_text": "A"}] * 2)
    assert "lines 1 and 2" in refused(capsys, fit(warc, gold, tmp_path / "m.json", "--workers", "1"))


def test_more_folds_than_domains_are_refused(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_gold(tmp_path, gold_rows(warc))
    said = refused(capsys, fit(warc, gold, tmp_path / "m.json", "--folds", "7", "--workers", "1"))
    assert said == "obelics: --folds 7: pages of 6 domains make 2 to 6 folds"


def test_labels_that_are_all_alike_are_refused(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_gold(tmp_path, [{"url": url(0), "must_contain": [paragraphs(0)[0]]}])
    said = refused(capsys, fit(warc, gold, tmp_path / "m.json", "--folds", "2", "--workers", "1"))
    assert "too little is known of these pages" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gold": "absent.jsonl"}, "cannot be read as gold"),
        ({"warc": "absent.warc.gz"}, "absent.warc.gz"),
        ({"output": "absent/m.json"}, "there is no folder"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: dict[str, Any], message: str
) -> None:
    given = {"warc": warc, "gold": write_gold(tmp_path, gold_rows(warc)), "output": tmp_path / "m.json"}
    given |= {name: tmp_path / path for name, path in arguments.items()}
    assert message in refused(capsys, fit(**given))


def test_without_lightgbm_it_says_what_to_install(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    said = refused(capsys, fit(warc, tmp_path / "gold.jsonl", tmp_path / "m.json"))
    assert said.startswith("obelics: fitting needs LightGBM: pip install 'obelics-pipeline[fit]'")
