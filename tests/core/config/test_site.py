"""Bounds of what is no column of a site, and a score that nobody measures, are refused in one line."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.jobs.main_job import run


def test_an_unknown_column_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UserError, match=r"site_document is no column.*site_documents, .*farm_score_in_site") as error:
        load_config("default", ["site.document.site_document={max: 3}"])
    assert "\n" not in str(error.value)


def test_the_columns_are_named_after_the_score() -> None:
    load_config("default", ["site.score=quality_score", "site.document.quality_score_in_site={max: 0.5}"])
    with pytest.raises(UserError, match="farm_score_in_site is no column"):
        load_config("default", ["site.score=quality_score", "site.document.farm_score_in_site={max: 0.5}"])
    with pytest.raises(UserError, match="farm_score_in_site is no column"):
        load_config("default", ["site.score=null", "site.document.farm_score_in_site={max: 0.5}"])


def test_bounds_by_genre_are_refused() -> None:
    with pytest.raises(UserError, match=r"document\.site_documents\.genres: a site has no genre"):
        load_config("default", ["site.document.site_documents={max: 3, genres: {verse: null}}"])


def test_bounds_switch_it_on() -> None:
    assert load_config("default").site.active
    assert not load_config("default", ["site.document={}"]).site.active
    assert not load_config("obelics").site.active
    assert load_config("default", ["site.document.site_documents={max: 3}"]).site.active


def test_a_score_that_no_filter_measures_stops_the_run_before_it_starts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"site\.score: perplexity is not measured; .*image_count.*, or null") as error:
        run("default", ["x.warc.gz"], tmp_path / "out", 1, ["site.enabled=true", "site.score=perplexity"])
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
