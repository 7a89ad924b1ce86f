from __future__ import annotations

import io
from collections import Counter
from copy import deepcopy
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.similarity import scorer as module
from obelics_pipeline.models.similarity.architecture import Architecture, Preprocessing
from obelics_pipeline.models.similarity.clip import Clip, build
from obelics_pipeline.models.similarity.columns import COLUMNS, columns
from obelics_pipeline.models.similarity.scorer import SimilarityScorer
from tests.models.pictures.illustrated import Pictures, document, noise, png
from tests.models.similarity import tiny
from tests.models.similarity.tiny import similarities

A, B, C = "the ferry returns at noon", "a loaf of rye, not of wheat", "she wound the clock and listened"


def clip_of(towers: Any) -> Clip:
    of = Architecture(name=None, config=tiny.CONFIG, preprocessing=Preprocessing())
    return build(of, towers.state_dict(), Path("made"), "cpu", "float32")


@cache
def clip() -> Clip:
    return clip_of(tiny.towers())


def documents() -> list[Document]:
    return [
        document(A, "image:1", B),
        document("image:1", A, "image:2", C, "image:1", B),
        document(A, B, C),
        document(A, "image:none", B),
        document("image:bad", A, "image:empty", "image:2", B),
        document("image:1"),
        document(),
        document(" ".join([A, B, C] * 4), "image:3", "image:4", A),
        document("image:bomb", A),
        document(A, "image:1", B),
    ]


def scored(
    given: list[Document], images: ImageSource | None = None, **options: Any
) -> tuple[list[dict[str, float | None]], list[list[float | None]]]:
    """The columns of documents, and the similarities of their images."""
    found = SimilarityScorer(clip(), images or Pictures(tiny.SIDE), **options).score(given)
    return found, similarities(given)


def same(one: list[list[float | None]], other: list[list[float | None]]) -> None:
    assert [[value is None for value in row] for row in one] == [[value is None for value in row] for row in other]
    for mine, yours in zip(one, other, strict=True):
        assert [v for v in mine if v is not None] == pytest.approx([v for v in yours if v is not None], abs=1e-5)


def cosine(number: int, text: str) -> float:
    """By open_clip alone."""
    import open_clip

    towers = tiny.towers()
    with torch.inference_mode():
        image = towers.encode_image(tiny.normalised(noise(tiny.SIDE, number)), normalize=True)
        words = towers.encode_text(open_clip.SimpleTokenizer(context_length=tiny.LENGTH)(text), normalize=True)
    return float(image[0] @ words[0])


def test_each_document_has_every_column() -> None:
    given = documents()
    found, _ = scored(given)
    assert len(found) == len(given) and all(tuple(one) == COLUMNS for one in found)
    assert [one["similarity_images"] for one in found] == [1, 3, 0, 0, 1, 0, 0, 2, 0, 1]
    assert scored([])[0] == []


def test_the_columns_are_of_the_similarities_of_the_images() -> None:
    found, images = scored(documents())
    three = [value for value in images[1] if value is not None]
    assert len(three) == 3
    assert found[1]["image_text_similarity"] == pytest.approx(np.mean(three), abs=1e-6)
    assert (found[1]["image_text_similarity_min"], found[1]["image_text_similarity_max"]) == (min(three), max(three))
    for none in (2, 3, 5, 6, 8):
        assert {v for key, v in found[none].items() if key != "similarity_images"} == {None}


def test_an_image_has_the_larger_cosine_of_the_texts_on_its_two_sides() -> None:
    for before, after in ((A, B), (B, A), (C, A)):
        _, [[found]] = scored([document(before, "image:7", after)])
        assert found == pytest.approx(max(cosine(7, before), cosine(7, after)), abs=2e-6)
    assert cosine(7, A) != pytest.approx(cosine(7, B), abs=1e-3)  # or the test would say nothing


def test_one_side_will_do_and_alt_text_is_no_side() -> None:
    _, [[before], [after]] = scored([document(A, "image:7"), document("image:7", A)])
    assert before == after == pytest.approx(cosine(7, A), abs=2e-6)
    alone = document("image:7")
    alone.images()[0].alt_text = A
    assert scored([alone])[1] == [[None]]


def test_of_a_long_text_the_tokens_next_to_the_image_are_read() -> None:
    long = " ".join([B, C] * 9)
    _, found = scored(
        [
            document(f"{long} {A} {A}", "image:7"),
            document("image:7", f"{A} {A} {long}"),
            document(f"{A} {A}", "image:7"),
        ]
    )
    assert found[0] == found[2]  # its last ten tokens
    assert found[1] == [pytest.approx(cosine(7, f"{A} {A}"), abs=2e-6)]


def test_a_document_alone_and_among_others_has_the_same_scores() -> None:
    alone = [scored([one]) for one in documents()]
    _, together = scored(documents())
    same([images for _, (images,) in alone], together)


def test_the_order_of_documents_and_the_size_of_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _, together = scored(documents())
    same(scored(documents()[::-1])[1][::-1], together)
    same(scored(documents(), batch=1)[1], together)
    monkeypatch.setattr(module, "BLOCK", 3)
    same(scored(documents(), batch=2)[1], together)


def test_the_same_documents_have_the_same_scores_to_the_last_bit() -> None:
    assert scored(documents()) == scored(documents())


def test_a_similarity_has_six_digits_and_lies_between_minus_one_and_one() -> None:
    values = [value for row in scored(documents())[1] for value in row if value is not None]
    assert values and all(value == round(value, 6) and -1 <= value <= 1 for value in values)


def test_a_picture_that_is_not_to_be_had_has_no_similarity_and_loses_the_one_it_had() -> None:
    one = document(A, "image:1", B, "image:none", C)
    for image in one.images():
        image.similarity = 0.5
    found, [[first, second]] = scored([one])
    assert first not in (None, 0.5) and second is None and found[0]["similarity_images"] == 1
    assert scored(documents(), images=no_images)[0][0]["similarity_images"] == 0


def test_an_image_that_was_dropped_is_not_asked_for_and_parts_no_text() -> None:
    source, one = Pictures(tiny.SIDE), document(A, "image:1", B, "image:2")
    one.nodes[1].reason = "logo"
    _, found = scored([one], images=source)
    assert source.asked == {"image:2": 1} and len(found[0]) == 1
    whole = document(f"{A}\n\n{B}", "image:2")
    same(found, scored([whole])[1])


def test_images_without_text_are_not_asked_for() -> None:
    source = Pictures(tiny.SIDE)
    scored([document("image:1"), document("image:2", "<end_of_text>")], images=source)
    assert not source.asked


def test_literal_marks_of_the_tokenizer_are_no_text() -> None:
    _, (marked, plain, only) = scored(
        [document(f"{A} <end_of_text>", "image:7"), document(A, "image:7"), document("<start_of_text>", "image:7")]
    )
    assert marked == plain and only == [None]


def test_images_beyond_the_limit_are_not_looked_at() -> None:
    source = Pictures(tiny.SIDE)
    found, [few] = scored([document("image:1", A, "image:2", B, "image:3", C, "image:1")], images=source, max_images=2)
    assert few[0] is not None and few[1] is not None and few[2:] == [None, None]
    assert found[0]["similarity_images"] == 2 and set(source.asked) == {"image:1", "image:2"}


def test_each_distinct_picture_and_text_is_encoded_once() -> None:
    encoded: Counter[str] = Counter()
    towers = clip().towers
    handles = [
        towers.visual.register_forward_pre_hook(lambda _m, x: encoded.update(images=len(x[0]))),
        towers.transformer.register_forward_pre_hook(lambda _m, x: encoded.update(texts=len(x[0]))),
    ]
    copies = [document(A, "image:1", B, "image:01", A, name=str(i)) for i in range(5)]
    try:
        found, _ = scored(copies)
    finally:
        for handle in handles:
            handle.remove()
    assert encoded == {"images": 1, "texts": 2} and found[0]["similarity_images"] == 2


def test_a_batch_that_does_not_fit_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def room_for_two(_module: Any, given: Any) -> None:
        sizes.append(len(given[0]))
        if len(given[0]) > 2:
            torch.empty(1 << 60, dtype=torch.uint8)

    expected = scored(documents())[1]
    handle = clip().towers.visual.register_forward_pre_hook(room_for_two)
    try:
        same(scored(documents())[1], expected)
    finally:
        handle.remove()
    assert sizes == [4, 2, 2]


def test_a_device_that_cannot_hold_one_image_is_named() -> None:
    handle = clip().towers.visual.register_forward_pre_hook(_full)
    try:
        with pytest.raises(UserError, match="one image or text by itself does not fit the memory of cpu"):
            scored(documents())
    finally:
        handle.remove()
    assert scored(documents())[0][0]["similarity_images"] == 1


def _full(*_: Any) -> None:
    torch.empty(1 << 60, dtype=torch.uint8)


def test_a_vector_that_overflowed_makes_the_columns_of_its_document_nan() -> None:
    towers = deepcopy(tiny.towers())
    with torch.no_grad():
        towers.visual.proj.fill_(float("inf"))
    one, other = document(A, "image:1", B), document(A)
    found = SimilarityScorer(clip_of(towers), Pictures(tiny.SIDE)).score([one, other])
    assert one.images()[0].similarity is None  # of a metadata object: JSON has no NaN
    assert {name for name, value in found[0].items() if value is not None and isnan(value)} == set(COLUMNS[1:])
    assert found[1] == columns([])


@pytest.mark.parametrize("squash", [False, True])
def test_pictures_reach_the_model_as_open_clip_prepares_them(squash: bool) -> None:
    from open_clip.transform import PreprocessCfg, image_transform_v2
    from PIL import Image

    prepared = Preprocessing(resize_mode="squash", mean=(0.5, 0.5, 0.5)) if squash else Preprocessing()
    ours = SimilarityScorer(
        Clip(clip().towers, clip().words, prepared, tiny.SIDE, torch.float32), lambda _image: content
    )
    small = np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)
    content = png(np.asarray(Image.fromarray(small).resize((90, 60), Image.Resampling.BICUBIC)))
    given = []
    handle = clip().towers.visual.register_forward_pre_hook(lambda _m, x: given.append(x[0][0]))
    try:
        ours.score([document(A, "image:1")])
    finally:
        handle.remove()
    asked = PreprocessCfg(tiny.SIDE, mean=prepared.mean, std=prepared.std, resize_mode=prepared.resize_mode)
    theirs = image_transform_v2(asked, is_train=False)(Image.open(io.BytesIO(content)))
    torch.testing.assert_close(given[0], theirs, atol=0.02, rtol=0)  # one of 255 steps is 0.015
