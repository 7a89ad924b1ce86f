"""A config that extends another one holds its own values over those of that one, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.tune.saving import save
from tests.small import write_warc


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.yaml"


def test_mappings_are_joined_and_other_values_replaced(path: Path) -> None:
    path.write_text("extends: default\nfilters: {document: {word_count: {max: 90}}}\nimages: {formats: [png]}\n")
    below, found = load_config("default"), load_config(str(path))
    words = below.filters.document["word_count"]
    assert found.filters.document["word_count"] == words.model_copy(update={"max": 90.0})
    assert list(found.filters.document) == list(below.filters.document)
    assert found.images.formats == ("png",)
    assert found.model_copy(update={"filters": below.filters, "images": below.images}) == below


def test_what_set_says_is_laid_over_both(path: Path) -> None:
    path.write_text("extends: default\nimages: {min_side: 9}\n")
    assert load_config(str(path), ["images.min_side=8"]).images.min_side == 8


def test_a_config_that_is_not_there_or_extends_one_itself_is_refused_in_one_line(path: Path) -> None:
    path.write_text("extends: nothing\n")
    with pytest.raises(UserError, match=r"config nothing: no such file; give .*\(.*default, gpu, .*obelics.*\)"):
        load_config(str(path))
    path.write_text("extends: gpu\n")
    with pytest.raises(UserError, match=r"mine\.yaml: extends: gpu extends a config itself; name default"):
        load_config(str(path))


def test_a_tuned_config_still_extends_what_it_extended(path: Path) -> None:
    source = "extends: default # and this\nimages: { min_side: 9 }\n"
    path.write_text(source)
    tuned = load_config(str(path), ["images.min_side=8", "filters.document.word_count.min=20"])
    save(path, source, tuned, load_config(str(path)), replace=True)
    assert load_config(str(path)) == tuned
    assert path.read_text().startswith("extends: default # and this\nimages: { min_side: 8 }\n")


def test_the_gpu_config_is_the_default_with_bounds_of_a_model_that_it_does_not_name() -> None:
    below, found = load_config("default"), load_config("gpu")
    assert found.model_copy(update={"score": below.score}) == below
    assert found.score.language_model is None and found.score.flamingo is None
    assert set(found.score.document) == {"lm_bits_per_byte", "lm_image_gain"}


def test_a_run_by_it_without_a_model_ends_in_one_line_that_says_how_to_name_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warc = write_warc(tmp_path / "in.warc")
    assert main(["run", "gpu", "--input", str(warc), "--output", str(tmp_path / "out")]) == 2
    [line] = capsys.readouterr().err.splitlines()[-1:]
    assert "lm_bits_per_byte: no model is named" in line
    assert "--set 'score.language_model={model: FOLDER}'" in line
    assert not list((tmp_path / "out").glob("extract/*.parquet"))
