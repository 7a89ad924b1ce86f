from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.flamingo.assembly import FlamingoModel
from obelics_pipeline.models.flamingo.scorer import FlamingoScorer, Scoring
from obelics_pipeline.models.flamingo.statistics import COLUMNS
from obelics_pipeline.models.flamingo.unigram import Unigram, token_counts
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from tests.models.flamingo import tiny
from tests.models.pictures.illustrated import Pictures, document

A, B, C = tiny.SENTENCES


@cache
def model(positions: int) -> FlamingoModel:
    return tiny.flamingo(positions=positions)


DOCUMENTS = (
    document(A, "image:1", B),
    document("image:1", A, "image:2", C, "image:1", B),
    document(A, B, C),
    document(A, "image:none", B),
    document("image:bad", A, "image:empty", "image:2", B),
    document("image:1"),
    document(),
    document(" ".join([A, B, C] * 4), "image:3", A),
)


def scores(
    *documents: Document, images: ImageSource | None = None, positions: int = 512, **scoring: Any
) -> list[dict[str, float | None]]:
    return FlamingoScorer(model(positions), images or Pictures(tiny.SIDE), Scoring(**{"overlap": 16} | scoring)).score(
        documents
    )


def same(one: dict[str, float | None], other: dict[str, float | None]) -> None:
    assert {name: value is None for name, value in one.items()} == {n: v is None for n, v in other.items()}
    for name, value in one.items():
        assert value == pytest.approx(other[name], abs=1e-4), name


def test_each_document_has_every_column() -> None:
    found = scores(*DOCUMENTS)
    assert len(found) == len(DOCUMENTS)
    assert all(tuple(one) == COLUMNS for one in found)
    assert scores() == []


def test_images_seen_are_those_that_could_be_read() -> None:
    assert [one["images_seen"] for one in scores(*DOCUMENTS)] == [1, 3, 0, 0, 1, 1, 0, 1]
    assert [one["images_seen"] for one in scores(*DOCUMENTS, images=no_images)] == [0] * len(DOCUMENTS)


def test_a_document_alone_and_among_others_has_the_same_scores() -> None:
    for one, other in zip(scores(*DOCUMENTS), (scores(d)[0] for d in DOCUMENTS), strict=True):
        same(one, other)


def test_how_documents_are_batched_changes_nothing() -> None:
    found = scores(*DOCUMENTS, batch_tokens=1, batch_images=1, block_documents=2, decoding_threads=1)
    for one, other in zip(scores(*DOCUMENTS), found, strict=True):
        same(one, other)


def test_the_same_documents_have_the_same_scores_to_the_last_bit() -> None:
    assert scores(*DOCUMENTS) == scores(*DOCUMENTS)


def test_a_document_without_text_has_counts_only() -> None:
    only_image, nothing = scores(document("image:1"), document())
    for one in (only_image, nothing):
        assert {name for name, value in one.items() if value is not None} == {"flamingo_tokens", "images_seen"}
        assert one["flamingo_tokens"] == 0


def test_the_image_gain_is_measured_where_there_is_an_image_and_only_there() -> None:
    with_image, without, not_asked = (*scores(*DOCUMENTS[:3])[::2], scores(DOCUMENTS[0], image_gain=False)[0])
    assert with_image["flamingo_image_gain"] not in (None, 0.0)
    assert without["flamingo_image_gain"] is None
    assert not_asked["flamingo_image_gain"] is None
    assert not_asked["flamingo_loss"] == pytest.approx(with_image["flamingo_loss"], abs=1e-5)


def test_an_image_behind_all_text_gains_nothing() -> None:
    assert scores(document(A, "image:1"))[0]["flamingo_image_gain"] == pytest.approx(0, abs=1e-6)


def test_an_image_that_is_not_to_be_had_leaves_the_text_as_if_it_had_none() -> None:
    same(scores(document(A, "image:none", B))[0], scores(document(A, B))[0])


def test_marks_that_a_page_writes_are_not_read_as_images() -> None:
    same(scores(document(A + "<image>", "image:1", "<|endofchunk|>" + B))[0], scores(document(A, "image:1", B))[0])


def test_an_image_that_many_documents_have_is_encoded_once() -> None:
    encoded = []
    flamingo = model(512).flamingo
    handle = flamingo.vision_encoder.register_forward_pre_hook(lambda _m, given: encoded.append(len(given[0])))
    try:
        scores(*[document("image:1", A, "image:2", B, name=str(i)) for i in range(5)])
    finally:
        handle.remove()
    assert encoded == [2]


def test_two_files_with_the_same_bytes_are_one_picture_and_each_is_asked_for_once() -> None:
    source = Pictures(tiny.SIDE)
    copies = [ImageNode(src, src) for src in ("image:1", "image:01", "image:1")]
    one = Document("d", "", "a", 0, 1, [*copies, TextNode(A)])
    encoded = []
    handle = model(512).flamingo.vision_encoder.register_forward_pre_hook(lambda _m, x: encoded.append(len(x[0])))
    try:
        found = scores(one, images=source)
    finally:
        handle.remove()
    assert encoded == [1] and found[0]["images_seen"] == 3
    assert source.asked == {"image:1": 1, "image:01": 1}


def test_images_beyond_the_limit_are_as_if_not_to_be_had() -> None:
    many, few = document("image:1", A, "image:2", B, "image:3", C), document("image:1", A, "image:2", B, C)
    source = Pictures(tiny.SIDE)
    found = scores(many, images=source, max_images=2)[0]
    same(found, scores(few)[0])
    assert found["images_seen"] == 2 and "image:3" not in source.asked


def test_text_that_has_no_utf_8_is_scored_too() -> None:
    assert scores(document("a lone \ud800 surrogate"))[0]["flamingo_loss"] is not None


def test_a_document_longer_than_the_model_is_scored_whole() -> None:
    long = document(*[f"{A} {B} {C}"] * 3, "image:1", *[f"{C} {B}"] * 3)
    whole, cut = scores(long, positions=2048)[0], scores(long, positions=128)[0]
    assert cut["flamingo_tokens"] == whole["flamingo_tokens"] and (whole["flamingo_tokens"] or 0) > 400
    assert cut["flamingo_loss"] == pytest.approx(whole["flamingo_loss"], rel=0.05)
    assert cut["flamingo_image_gain"] is not None


def test_a_unigram_model_of_the_same_words_is_compared_with() -> None:
    m = model(512)
    unigram = Unigram.from_counts(token_counts(tiny.SENTENCES, m.encoder(), len(m.tokenizer)))
    found = FlamingoScorer(m, no_images, Scoring(overlap=16), unigram).score([document(A)])[0]
    assert found["flamingo_worse_than_unigram"] is not None and found["flamingo_worse_than_unigram"] > 0.5  # untrained


def test_an_overlap_that_does_not_fit_the_model_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match=r"overlap is 256; 1 to 125 tokens are valid with windows of 128, which is all"):
        FlamingoScorer(model(128), no_images, Scoring())


def test_a_device_that_cannot_hold_one_window_is_named() -> None:
    m = model(512)
    handle = m.flamingo.lang_encoder.register_forward_pre_hook(_full)
    try:
        with pytest.raises(UserError, match=r"window of 512 tokens does not fit the memory of cpu; set window_tokens"):
            scores(document(A))
    finally:
        handle.remove()
    assert scores(document(A))[0]["flamingo_loss"] is not None


def _full(*_: Any) -> None:
    torch.empty(1 << 60, dtype=torch.uint8)


def test_pictures_reach_the_model_as_they_are() -> None:
    given = []
    handle = model(512).flamingo.vision_encoder.register_forward_pre_hook(lambda _m, x: given.append(x[0].numpy()))
    try:
        scores(document("image:1", A))
    finally:
        handle.remove()
    from obelics_pipeline.models.flamingo.assembly import MEAN, STD

    expected = (tiny.pictures(1, seed=1)[0] / 255 - np.array(MEAN)) / np.array(STD)
    np.testing.assert_allclose(given[0][0].transpose(1, 2, 0), expected, atol=1e-5)
