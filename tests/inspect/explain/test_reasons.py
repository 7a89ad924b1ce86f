"""What made a score of generated text is told on the terminal and in the browser, whatever the page says."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.inspect.explain.explanation import Explanation, explanation_of
from obelics_pipeline.inspect.explain.lines import lines_of
from obelics_pipeline.inspect.explain.record import page_in_file
from obelics_pipeline.inspect.explain.side_by_side import side_by_side
from tests.inspect.explain.hostile import PAGE, URL, Elements
from tests.models.farm_detector.small import detector


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    detector().save(tmp_path / "small.npz")
    rule = f"filters.document.farm_score={{max: 0.1, options: {{paths: {{en: {tmp_path / 'small.npz'}}}}}}}"
    return load_config("default", [rule])


def explanation(page: str, config: RunConfig, folder: Path) -> Explanation:
    (folder / "page.html").write_text(page, "utf-8")
    return explanation_of("page.html", page_in_file(folder / "page.html", URL, config.reading), config)


def test_a_score_is_told_with_its_reasons(config: RunConfig, tmp_path: Path) -> None:
    lines = list(lines_of(explanation(PAGE, config, tmp_path)))
    title = next(n for n, line in enumerate(lines) if line.startswith("what made farm_score 0."))
    told = lines[title + 1 : lines.index("", title)]
    heads = ["wording", "chat", "coherence", "network"]
    assert [line.split()[:2] for line in told[:4]] == [["head", name] for name in heads]
    assert sum(line.startswith("  word that does not fit") for line in told) == 10
    assert sum(line.startswith("  worst stretch") for line in told) == 1


def test_a_document_without_the_score_has_no_reasons(config: RunConfig, tmp_path: Path) -> None:
    made = explanation("<p>Too short to tell anything of it.</p>", config, tmp_path)
    assert not [line for line in lines_of(made) if line.startswith("what made")]
    ordinary = explanation(PAGE, load_config("obelics"), tmp_path)
    assert not [line for line in lines_of(ordinary) if line.startswith("what made")]


def test_quotes_of_a_hostile_page_are_shown_as_text(config: RunConfig, tmp_path: Path) -> None:
    made = explanation(PAGE, config, tmp_path)
    told = [line for line in lines_of(made) if line.startswith("  word that does not fit")]
    assert [line for line in told if "<script>" in line]
    assert [line for line in told if "⟨U+202E⟩" in line]
    assert not [line for line in told if "\u202e" in line]
    shown = Elements(side_by_side(made))
    assert "what made farm_score" in shown.text
    assert "word that does not fit" in shown.text
    assert {tag for tag, _ in shown.found} & {"img", "a", "iframe"} == set()
    assert len(shown.inside["script"]) == 1
