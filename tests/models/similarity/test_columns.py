from __future__ import annotations

from obelics_pipeline.models.similarity.columns import COLUMNS, columns


def test_mean_least_and_greatest_are_of_the_images_that_were_measured() -> None:
    assert columns([0.25, None, -0.5, 0.5]) == {
        "similarity_images": 3,
        "image_text_similarity": 0.083333,
        "image_text_similarity_min": -0.5,
        "image_text_similarity_max": 0.5,
    }
    assert tuple(columns([0.1])) == COLUMNS


def test_where_nothing_was_measured_there_is_no_number_but_how_many() -> None:
    for none in ([], [None, None]):
        found = columns(none)
        assert found.pop("similarity_images") == 0
        assert len(found) == 3 and set(found.values()) == {None}
