"""Thresholds of paragraphs and images on arrays decide as the rules of a run do, one by one."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.filtering import Threshold
from obelics_pipeline.core.config.sharding import ImageRulesConfig
from obelics_pipeline.core.document import IMAGE_MEASURES, ImageNode, TextNode
from obelics_pipeline.filters.rule import ParagraphRules, Rule
from obelics_pipeline.filters.text import Text
from obelics_pipeline.inspect.run_tables.images import FIELDS as IMAGE_FIELDS
from obelics_pipeline.inspect.run_tables.paragraphs import FIELDS as PARAGRAPH_FIELDS
from obelics_pipeline.inspect.tune.images import Images
from obelics_pipeline.inspect.tune.levels import image_counts, image_level
from obelics_pipeline.inspect.tune.paragraphs import Paragraphs
from obelics_pipeline.stages.fetch.image_rules import image_reason
from tests.inspect.tune.made import documents

SIZES = st.one_of(st.none(), st.sampled_from([10, 149, 150, 151, 300, 20_000, 20_001]))


class Given:
    """A filter that says what it was told."""

    def __init__(self, value: float | None) -> None:
        self._value = value

    def score(self, text: Text) -> float | None:
        return self._value


def paragraphs(rows: list[tuple[str, float | None, str, str | None]]) -> Paragraphs:
    """Rows of role, score, language, reason; each in a document of its own, of ten bytes."""
    made = documents(
        {"word_count": [1.0] * len(rows)},
        language=[row[2] for row in rows],
        bytes=[10 * (row[3] is None) for row in rows],
    )
    table = pa.table(
        {
            "document": list(range(len(rows))),
            "node": [0] * len(rows),
            "role": [row[0] for row in rows],
            "reason": [row[3] for row in rows],
            "duplicate_of": [None] * len(rows),
            "bytes": [10] * len(rows),
            "given": [row[1] for row in rows],
        },
        schema=pa.schema([*PARAGRAPH_FIELDS, pa.field("given", pa.float64())]),
    )
    return Paragraphs(made, [table])


ROWS = st.tuples(
    st.sampled_from(["paragraph", "heading"]),
    st.one_of(st.none(), st.floats(0, 1)),
    st.sampled_from(["en", "th"]),
    st.none(),
)


@given(st.lists(ROWS, min_size=1, max_size=20), st.floats(0, 1), st.sampled_from([None, ("paragraph",)]))
def test_a_paragraph_is_dropped_as_a_run_drops_it(
    rows: list[tuple[str, float | None, str, str | None]], bound: float, roles: tuple[str, ...] | None
) -> None:
    threshold = Threshold.model_validate({"min": bound, "roles": roles, "languages": {"th": None}})
    failed = paragraphs(rows).fails("given", threshold)
    for (role, value, language, _), found in zip(rows, failed, strict=True):
        node = TextNode("words", role)
        ParagraphRules([Rule("given", Given(value), threshold)], language, segment=False).judge(node)  # type: ignore[arg-type]
        assert found == (node.reason is not None)


def test_bytes_come_and_go_with_the_paragraphs_that_the_rules_decide() -> None:
    before, now = {"given": Threshold(min=0.5)}, {"given": Threshold(min=0.2)}
    made = paragraphs(
        [
            ("paragraph", 0.1, "en", "given"),
            ("paragraph", 0.3, "en", "given"),
            ("paragraph", 0.9, "en", None),
            ("paragraph", 0.9, "en", "empty"),
        ]
    )
    assert made.bytes_left(before, now).tolist() == [0, 10, 10, 0]
    assert made.bytes_left(before, {"given": Threshold(min=0.95)}).tolist() == [0, 0, 0, 0]
    assert made.bytes_left(before, {}).tolist() == [10, 10, 10, 0]


@given(st.lists(st.tuples(SIZES, SIZES, st.sampled_from([None, "jpeg", "gif"])), min_size=1, max_size=10))
def test_an_image_is_dropped_as_a_run_drops_it(rows: list[tuple[int | None, int | None, str | None]]) -> None:
    rules = ImageRulesConfig()
    nodes = [ImageNode("https://a.example/x", "x", original_width=w, original_height=h, format=f) for w, h, f in rows]
    failed = images([(w, h, f, None) for w, h, f in rows]).fails(rules, {})
    for i, node in enumerate(nodes):
        reasons = [reason for reason, mask in failed.items() if mask[i]]
        assert image_reason(node, rules) == (reasons[0] if reasons else None)


def images(
    rows: list[tuple[int | None, int | None, str | None, str | None]],
    sharpness: list[float | None] | None = None,
    more: pa.Table | None = None,
) -> Images:
    made = documents({"word_count": [1.0] * len(rows)}, images=[int(row[3] is None) for row in rows])
    n = len(rows)
    values = {
        "document": list(range(n)), "node": [0] * n, "role": [None] * n, "reason": [row[3] for row in rows],
        "failed": [False] * n, "duplicate_of": [None] * n, "host": [""] * n, "width": [row[0] for row in rows],
        "height": [row[1] for row in rows], "format": [row[2] for row in rows], "n_bytes": [9] * n,
        "similarity": [None] * n,
        "unsafe": [None] * n,
        **{name: [None] * n for name in IMAGE_MEASURES},
        "sharpness": sharpness or [None] * n,
    }  # fmt: skip
    table = pa.table(values, schema=IMAGE_FIELDS)
    for name in [] if more is None else more.column_names:
        table = table.append_column(name, more[name])
    return Images(made, [table])


def test_images_come_and_go_with_their_rules_and_not_with_others() -> None:
    made = images(
        [
            (100, 100, "jpeg", "image_side"),
            (200, 200, "jpeg", None),
            (200, 200, "jpeg", "image_banned_word"),
            (None, None, None, "http_404"),
        ]
    )
    assert made.left(ImageRulesConfig(min_side=50), {}).tolist() == [1, 1, 0, 0]
    assert made.left(ImageRulesConfig(min_side=300), {}).tolist() == [0, 0, 0, 0]
    assert np.isnan(made.scores["ratio"][3])


def test_images_come_and_go_with_what_is_measured_of_their_pixels() -> None:
    rules = ImageRulesConfig.model_validate({"quality": {"sharpness": {"min": 100}}})
    looser = ImageRulesConfig.model_validate({"quality": {"sharpness": {"min": 10}}})
    reasons = [None, "image_sharpness", None, "overused_image"]
    made = images([(300, 300, "jpeg", reason) for reason in reasons], [200.0, 50.0, None, 200.0])
    assert made.left(rules, {}).tolist() == [1, 0, 1, 0]
    assert made.left(looser, {}).tolist() == [1, 1, 1, 0]
    assert made.left(ImageRulesConfig(), {}).tolist() == [1, 1, 1, 0]


def test_a_bound_on_a_measure_of_pixels_can_be_moved_and_is_counted() -> None:
    config = RunConfig.model_validate({"images": {"quality": {"sharpness": {"min": 100}, "one_colour": {}}}})
    made = images([(300, 300, "jpeg", None)] * 3, [200.0, 50.0, None])
    *_, sharpness, one_colour = image_level(config)
    assert (sharpness["place"], sharpness["min"], sharpness["max"]) == ("images.quality.sharpness", 100, None)
    assert (one_colour["place"], one_colour["single"]) == ("images.quality.one_colour", False)
    *_, counted, empty = image_counts(made, config)
    assert (counted["name"], counted["measured"], counted["drops"]) == ("sharpness", 2, 1)
    assert (empty["measured"], empty["drops"]) == (0, 0)


def test_a_bound_on_what_a_model_measured_can_be_moved_and_is_counted() -> None:
    named = {"watermark": {"model": "m.onnx", "label": "watermark"}}
    config = RunConfig.model_validate({"score": {"picture_classifiers": named}})
    name = "picture_watermark"
    scores = pa.table({name: [0.9, 0.2, None, 0.9]}, schema=pa.schema([(name, pa.float64())]))
    reasons = [None, name, None, "overused_image"]
    made = images([(300, 300, "jpeg", reason) for reason in reasons], more=scores)
    *_, level = image_level(config)
    assert (level["place"], level["min"], level["max"]) == (f"score.image.{name}", None, None)
    assert made.left(config.images, config.score.image).tolist() == [1, 1, 1, 0]
    tighter = RunConfig.model_validate({"score": {"picture_classifiers": named, "image": {name: {"max": 0.5}}}})
    *_, counted = image_counts(made, tighter)
    assert (counted["name"], counted["measured"], counted["drops"]) == (name, 3, 2)
    assert made.left(tighter.images, tighter.score.image).tolist() == [0, 1, 1, 0]
    *_, unmeasured = image_counts(images([(300, 300, "jpeg", None)]), tighter)
    assert (unmeasured["measured"], unmeasured["drops"]) == (0, 0)


def test_each_threshold_of_images_is_counted_by_itself() -> None:
    made = images(
        [(100, 300, "jpeg", None), (100, 100, "jpeg", None), (900, 300, "jpeg", None), (None, None, None, "x")]
    )
    config = RunConfig.model_validate({"images": {"min_side": 150, "max_side": 800}})
    counts = {(row["name"], i): (row["measured"], row["drops"], row["first"], row["alone"])
              for i, row in enumerate(image_counts(made, config))}  # fmt: skip
    assert counts == {
        ("shorter_side", 0): (3, 2, 2, 1),
        ("longer_side", 1): (3, 1, 1, 0),
        ("ratio", 2): (3, 1, 0, 0),
        ("ratio", 3): (3, 1, 0, 0),
    }
