"""A language that the model never tells is refused where a config names it: nothing of it would ever apply."""

from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.jobs.stages import STAGES
from obelics_pipeline.models.language_id import LanguageModel
from obelics_pipeline.stages.extract.languages import check_languages
from obelics_pipeline.stages.extract.measure import Measurer


@pytest.mark.parametrize(
    ("override", "place", "code"),
    [
        ("language.keep=[en, english]", "language.keep", "english"),
        ("language.keep=[EN]", "language.keep", "EN"),
        ("language.keep=['']", "language.keep", ""),
        ("filters.document.word_count.languages.german={min: 3}", "filters.document.word_count.languages", "german"),
        ("filters.paragraph.word_count.languages.jp=null", "filters.paragraph.word_count.languages", "jp"),
        (
            "filters.document.spam_word_ratio={options: {paths: {gr: words.txt}}}",
            "filters.document.spam_word_ratio.options.paths",
            "gr",
        ),
    ],
)
def test_an_unknown_language_is_refused_with_those_that_are_known(override: str, place: str, code: str) -> None:
    config = load_config("default", [override])
    with pytest.raises(
        UserError, match=f"^{place}: '{code}' is no language that lid.176.ftz tells; valid are af"
    ) as error:
        Measurer(config.filters, config.language)
    assert "en, " in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("place", ["site.document.site_documents", "score.document.flamingo_loss"])
def test_so_it_is_in_bounds_beyond_those_of_filters(place: str) -> None:
    scored = ["fetch.enabled=true", "score.flamingo={model: 'x'}"] if "flamingo" in place else []
    (stage,) = (stage for stage in STAGES if place.startswith(f"{stage.name}."))
    with pytest.raises(UserError, match=f"^{place}.languages: 'german' is no language"):
        stage.check(load_config("default", [*scored, f"{place}.languages.german={{min: 3}}"]))
    config = load_config("default", [f"{place}.languages.de={{min: 3}}"])
    check_languages(stage.bounds(config), config.language)


def test_every_language_that_the_model_tells_can_be_kept_and_texts_without_one() -> None:
    known = LanguageModel.load().languages()
    assert len(known) == 177  # lid.176, and und
    config = load_config("default", [f"language.keep=[{', '.join(repr(code) for code in sorted(known))}]"])
    Measurer(config.filters, config.language)


@pytest.mark.parametrize("name", ["default", "obelics"])
def test_the_bundled_configs_name_known_languages(name: str) -> None:
    config = load_config(name)
    Measurer(config.filters, config.language)


def test_a_run_refuses_it_before_anything_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "run",
        "default",
        "--input",
        "x.warc",
        "--output",
        str(tmp_path / "out"),
        "--set",
        "language.keep=[english]",
    ]
    assert main(given) == 2
    assert "'english' is no language" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
