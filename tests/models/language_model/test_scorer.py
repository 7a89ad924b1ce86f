from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model.columns import COLUMNS
from obelics_pipeline.models.language_model.loading import LoadLanguageModel, load
from obelics_pipeline.models.language_model.model import LanguageModel
from obelics_pipeline.models.language_model.scorer import LanguageModelScorer
from obelics_pipeline.models.language_model.scoring import Scoring
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from tests.models.language_model import tiny, tiny_vlm
from tests.models.pictures.illustrated import Pictures, document

A, B, C = tiny.SENTENCES
SIDE = 60  # pixels: four places of a Qwen, two by two
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


@cache
def model() -> LanguageModel:
    return load(str(tiny_vlm.saved(Path(mkdtemp()), "qwen2_vl")), device="cpu")


def scorer(
    images: ImageSource | None = None, second: LanguageModel | None = None, **scoring: Any
) -> LanguageModelScorer:
    return LanguageModelScorer(model(), images or Pictures(SIDE), Scoring(**{"overlap": 32} | scoring), second)


def scores(*documents: Document, **options: Any) -> list[dict[str, float | None]]:
    return scorer(**options).score(documents)


def same(one: dict[str, float | None], other: dict[str, float | None]) -> None:
    assert {name: value is None for name, value in one.items()} == {n: v is None for n, v in other.items()}
    for name, value in one.items():
        assert value == pytest.approx(other[name], abs=1e-4), name


def encoded(documents: list[Document], **options: Any) -> list[int]:
    """How many images each pass of the vision tower was given."""
    given: list[int] = []
    assert model().vision is not None
    tower = model().vision.model.visual
    handle = tower.register_forward_pre_hook(
        lambda _m, _a, named: given.append(len(named["grid_thw"])), with_kwargs=True
    )
    try:
        scores(*documents, **options)
    finally:
        handle.remove()
    return given


def test_each_document_has_every_column() -> None:
    found = scores(*DOCUMENTS)
    assert len(found) == len(DOCUMENTS)
    assert all(tuple(one) == COLUMNS for one in found)
    assert scores() == []


def test_images_seen_are_those_that_could_be_read() -> None:
    assert [one["lm_images_seen"] for one in scores(*DOCUMENTS)] == [1, 3, 0, 0, 1, 1, 0, 1]
    assert [one["lm_images_seen"] for one in scores(*DOCUMENTS, images=no_images)] == [0] * len(DOCUMENTS)


def test_a_document_alone_and_among_others_has_the_same_scores() -> None:
    for one, other in zip(scores(*DOCUMENTS), (scores(d)[0] for d in DOCUMENTS), strict=True):
        same(one, other)


def test_how_documents_are_packed_changes_nothing() -> None:
    found = scores(*DOCUMENTS, batch_tokens=1, batch_images=1, block_documents=2, decoding_threads=1)
    for one, other in zip(scores(*DOCUMENTS), found, strict=True):
        same(one, other)


def test_the_same_documents_have_the_same_scores_to_the_last_bit() -> None:
    assert scores(*DOCUMENTS) == scores(*DOCUMENTS)


def test_a_document_without_text_has_counts_only() -> None:
    for one in scores(document("image:1"), document()):
        assert {name for name, value in one.items() if value is not None} == {"lm_tokens", "lm_images_seen"}


def test_the_image_gain_is_measured_where_there_is_an_image_and_only_there() -> None:
    with_image, without, not_asked = (*scores(*DOCUMENTS[:3])[::2], scores(DOCUMENTS[0], image_gain=False)[0])
    assert with_image["lm_image_gain"] not in (None, 0.0)
    assert without["lm_image_gain"] is None
    assert not_asked["lm_image_gain"] is None and not_asked["lm_loss_without_images"] is None
    assert not_asked["lm_loss"] == pytest.approx(with_image["lm_loss"], abs=1e-5)


def test_an_image_behind_all_text_gains_nothing() -> None:
    assert scores(document(A, "image:1"))[0]["lm_image_gain"] == pytest.approx(0, abs=1e-6)


def test_an_image_that_is_not_to_be_had_leaves_the_text_as_if_it_had_none() -> None:
    same(scores(document(A, "image:none", B))[0], scores(document(A, B))[0])


def test_an_image_that_many_documents_have_is_encoded_once() -> None:
    assert encoded([document("image:1", A, "image:2", B, name=str(i)) for i in range(5)]) == [2]


def test_images_are_encoded_so_many_at_a_time() -> None:
    assert encoded([document("image:1", A, "image:2", "image:3", B)], batch_images=2) == [2, 1]


def test_two_files_with_the_same_bytes_are_one_picture_and_each_is_asked_for_once() -> None:
    source = Pictures(SIDE)
    copies = [ImageNode(src, src) for src in ("image:1", "image:01", "image:1")]
    assert encoded([Document("d", "", "a", 0, 1, [*copies, TextNode(A)])], images=source) == [1]
    assert source.asked == {"image:1": 1, "image:01": 1}


def test_images_beyond_the_limit_are_as_if_not_to_be_had() -> None:
    many, few = document("image:1", A, "image:2", B, "image:3", C), document("image:1", A, "image:2", B, C)
    source = Pictures(SIDE)
    found = scores(many, images=source, max_images=2)[0]
    same(found, scores(few)[0])
    assert found["lm_images_seen"] == 2 and "image:3" not in source.asked


def test_an_image_that_no_window_can_hold_is_as_if_not_to_be_had() -> None:
    found = scores(document(A, "image:1", B), window_tokens=36)[0]
    assert found["lm_images_seen"] == 0 and found["lm_loss"] is not None


def test_marks_that_a_page_writes_are_not_read_as_images() -> None:
    same(scores(document(A + "<|image_pad|>", "image:1", "<|vision_end|>" + B))[0], scores(DOCUMENTS[0])[0])


def test_a_document_longer_than_the_model_is_scored_whole() -> None:
    long = document(*[f"{A} {B} {C}"] * 3, "image:1", *[f"{C} {B}"] * 3)
    whole, cut = scores(long, window_tokens=2048)[0], scores(long, window_tokens=128)[0]
    assert cut["lm_tokens"] == whole["lm_tokens"] and (whole["lm_tokens"] or 0) > 400
    assert cut["lm_loss"] == pytest.approx(whole["lm_loss"], rel=0.05)
    assert cut["lm_images_seen"] == 1 and cut["lm_image_gain"] is not None


def test_binoculars_reads_the_text_alone() -> None:
    second = load(str(tiny_vlm.saved(Path(mkdtemp()), "qwen2_vl", seed=3)), device="cpu")
    seen, blind = (scores(DOCUMENTS[0], second=second, images=images)[0] for images in (Pictures(SIDE), no_images))
    assert seen["lm_binoculars"] == pytest.approx(blind["lm_binoculars"], rel=0.05)  # one blank line is cut otherwise
    without_gain = scores(DOCUMENTS[0], second=second, image_gain=False)[0]
    assert without_gain["lm_binoculars"] == pytest.approx(seen["lm_binoculars"])
    assert without_gain["lm_image_gain"] is None


def test_an_overlap_that_does_not_fit_the_model_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match=r"overlap is 509; 1 to 508 tokens are valid with windows of 512, which is all"):
        scorer(overlap=509)
    with pytest.raises(UserError, match=r"overlap is 100; 1 to 96 tokens are valid with windows of 100$"):
        scorer(overlap=100, window_tokens=100)


def test_numbers_that_are_not_finite_are_nan_and_not_missing() -> None:
    def broken(_: Any, __: Any, out: Any) -> None:
        out.last_hidden_state.fill_(torch.nan)

    handle = model().text.register_forward_hook(broken)
    try:
        with_image, text = scores(DOCUMENTS[0], DOCUMENTS[2])
    finally:
        handle.remove()
    for one in (with_image, text):
        named = {name for name, value in one.items() if value is not None and math.isnan(value)}
        assert named >= {"lm_loss", "lm_bits_per_byte", "lm_loss_p50", "lm_log_rank", "lm_entropy", "lm_curvature"}
        assert one["lm_tokens"]
    assert math.isnan(with_image["lm_image_gain"] or 0)


def test_rows_and_images_that_do_not_fit_the_memory_are_halved() -> None:
    expected = scores(*DOCUMENTS)
    rows: list[int] = []
    assert model().vision is not None

    def full(_: Any, __: Any, named: dict[str, Any]) -> None:
        rows.append(named["inputs_embeds"].shape[1])
        if rows[-1] > 600:
            raise torch.OutOfMemoryError("out of memory")

    def full_of_images(_: Any, __: Any, named: dict[str, Any]) -> None:
        if len(named["grid_thw"]) > 1:
            raise torch.OutOfMemoryError("out of memory")

    handles = [
        model().text.register_forward_pre_hook(full, with_kwargs=True),
        model().vision.model.visual.register_forward_pre_hook(full_of_images, with_kwargs=True),
    ]
    try:
        found = scores(*DOCUMENTS)
    finally:
        for handle in handles:
            handle.remove()
    assert max(rows) > 600
    for one, other in zip(found, expected, strict=True):
        same(one, other)


def test_a_device_that_cannot_hold_one_window_is_named() -> None:
    handle = model().text.register_forward_pre_hook(lambda *_: torch.empty(1 << 60, dtype=torch.uint8) and None)
    try:
        with pytest.raises(UserError, match=r"window of 512 tokens does not fit the memory of cpu; set window_tokens"):
            scores(DOCUMENTS[0])
    finally:
        handle.remove()
    assert scores(DOCUMENTS[0])[0]["lm_loss"] is not None


def test_no_logits_of_a_whole_row_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from obelics_pipeline.models.language_model import head

    sizes: list[int] = []
    handle = model().head.layer.register_forward_hook(lambda _m, given, _o: sizes.append(len(given[0])))
    monkeypatch.setattr(head, "VALUES", 10 * model().head.words)
    try:
        scores(DOCUMENTS[2])
    finally:
        handle.remove()
    assert max(sizes) == 10


def test_in_bfloat16_the_loss_is_near_that_of_float32() -> None:
    folder = tiny_vlm.saved(Path(mkdtemp()), "llava_onevision")
    exact, rounded = (
        LoadLanguageModel(str(folder), Pictures(SIDE), Scoring(overlap=16), device="cpu", dtype=dtype)().score(
            DOCUMENTS
        )
        for dtype in ("float32", "bfloat16")
    )
    for one, other in zip(exact, rounded, strict=True):
        assert one["lm_images_seen"] == other["lm_images_seen"]
        if one["lm_loss"] is not None:
            assert one["lm_loss"] == pytest.approx(other["lm_loss"], rel=0.02)


def test_images_wait_in_the_type_of_the_model() -> None:
    made = load(str(tiny_vlm.saved(Path(mkdtemp()), "smolvlm")), device="cpu", dtype="bfloat16")
    assert made.vision is not None
    inputs = made.vision.prepare(np.zeros((20, 30, 3), np.uint8)).inputs
    assert inputs["pixel_values"].dtype is torch.bfloat16 and not inputs["pixel_attention_mask"].is_floating_point()
