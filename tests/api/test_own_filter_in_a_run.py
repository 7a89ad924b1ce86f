"""A filter in a file must work in a run's worker processes, and an edited file must be measured with again."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from obelics_pipeline import Run
from obelics_pipeline.cli.main import main
from tests import small

SOURCE = "def letters(text, which: str = 'e') -> float | None:\n    return float(sum(map(text.text.count, which)))\n"
SETS = ("fetch.enabled=false", "dedup.enabled=false", "language.min_score=0", "images.min_per_document=0")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_filters.py").write_text(SOURCE)
    small.write_warc(tmp_path / "pages.warc")
    return tmp_path


def run(own: str, *more: str, engine: str = "local", output: str = "out") -> int:
    sets = [part for value in (*SETS, f"filters.document={{count: {own}}}") for part in ("--set", value)]
    how = ["--engine", engine, "--workers", "1", *more]
    return main(["run", "default", "--input", "pages.warc", "--output", output, *how, *sets])


def scores(folder: Path) -> Sequence[float]:
    return [row["count"] for row in Run(folder).to_arrow(["count"]).to_pylist()]


def test_workers_measure_with_it_and_an_edited_file_redoes_the_work(here: Path) -> None:
    own = "{use: 'my_filters.py:letters', min: 1}"
    assert run(own) == 0
    first = scores(here / "out")
    assert len(first) == len(small.THINGS)
    assert min(first) > 10
    before = (here / "out/manifest.json").read_bytes()
    assert run(own) == 0
    assert (here / "out/manifest.json").read_bytes() == before

    (here / "my_filters.py").write_text(SOURCE.replace("return ", "return 2 * "))
    assert run(own, "--yes") == 0
    assert scores(here / "out") == [2 * score for score in first]
    told = [json.loads(line) for line in (here / "out/events.jsonl").read_text().splitlines()]
    changed = [line for event in told if event.get("event") == "run_started" for line in event["changed"]]
    assert [line.split(":")[0] for line in changed] == ["filters.document.count.use.sha256"]


def test_its_threshold_drops_documents_by_its_name(here: Path) -> None:
    assert run("{use: 'my_filters.py:letters', max: 0}") == 0
    assert Run(here / "out").manifest.ledgers["documents"].dropped == {"count": len(small.THINGS)}


def test_a_wrong_name_is_told_before_any_work(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("{use: 'my_filters.py:lettres'}") == 2
    assert "my_filters.py has no lettres; it has letters" in " ".join(capsys.readouterr().err.split())
    assert not (here / "out" / "extract").exists()


def test_score_measures_rows_with_it(here: Path) -> None:
    (here / "rows.jsonl").write_text('{"text": "tea for me"}\n')
    sets = ["--set", "filters.document={count: {use: 'my_filters.py:letters'}}"]
    assert main(["score", "default", "--input", "rows.jsonl", "--output", "scored.jsonl", "--workers", "1", *sets]) == 0
    assert json.loads((here / "scored.jsonl").read_text())["count"] == 2.0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["ray", "beam"])
def test_the_cluster_engines_give_the_same_scores(here: Path, engine: str) -> None:
    pytest.importorskip("ray" if engine == "ray" else "apache_beam")
    own = "{use: 'my_filters.py:letters', min: 1}"
    assert run(own) == 0
    assert run(own, engine=engine, output=engine) == 0
    assert scores(here / engine) == scores(here / "out")
