"""What becomes of the numbers of a document's images."""

from math import isnan

from obelics_pipeline.models.picture_scores.columns import columns, names_of

NAMES = ("picture_x_images", "picture_x_mean", "picture_x_min", "picture_x_max")


def test_columns_are_of_the_images_that_were_measured() -> None:
    assert names_of("picture_x") == NAMES
    assert columns("picture_x", [0.5, None, 0.25, 0.75]) == dict(zip(NAMES, [3.0, 0.5, 0.25, 0.75], strict=True))
    assert columns("picture_x", [None]) == dict(zip(NAMES, [0.0, None, None, None], strict=True))
    assert columns("picture_x", []) == columns("picture_x", [None])


def test_no_number_is_no_mean_either() -> None:
    found = columns("picture_x", [0.5, float("nan")])
    assert found["picture_x_images"] == 2.0
    assert all(isnan(found[name] or 0.0) for name in NAMES[1:])
