"""Each family that reads images: what is measured is the loss of transformers' own forward, processor and all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model.families import FAMILIES
from obelics_pipeline.models.language_model.loading import LoadLanguageModel
from obelics_pipeline.models.language_model.scorer import LanguageModelScorer
from obelics_pipeline.models.language_model.scoring import Scoring
from tests.models.language_model import tiny, tiny_vlm
from tests.models.pictures.illustrated import Pictures, document, noise

A, B, C = tiny.SENTENCES
SIDE = 60  # pixels: four places of a Qwen, two by two
DOCUMENTS = (
    document(A, "image:1", B, "image:2"),
    document(C, B),
    document(B, "image:3", "image:1", "image:2", C),
    document(A, "image:none", B),
)


@cache
def folder(family: str) -> Path:
    return tiny_vlm.saved(Path(mkdtemp()), family)


@cache
def scorer(family: str, **scoring: Any) -> LanguageModelScorer:
    return LoadLanguageModel(
        str(folder(family)), images=Pictures(SIDE), scoring=Scoring(**{"overlap": 16} | scoring), device="cpu"
    )()


def theirs(family: str, one: Document, without: bool) -> float:
    """The loss of transformers' own model of the text of a document, by its own processor."""
    import transformers as t
    from PIL import Image

    model = t.AutoModelForImageTextToText.from_pretrained(folder(family)).eval()
    processor = tiny_vlm.processor(family, folder(family))
    mark = "<|vision_start|><|image_pad|><|vision_end|>" if family.startswith("qwen") else "<image>"
    text, images = processor.tokenizer.bos_token or "", []
    for i, node in enumerate(one.nodes):
        if isinstance(node, TextNode):
            text += ("\n\n" if i else "") + node.text
        elif isinstance(node, ImageNode) and node.src != "image:none" and not without:
            text += mark
            images.append(Image.fromarray(noise(SIDE, int(node.src.removeprefix("image:")))[0]))
    inputs = processor(text=[text], images=[images] if images else None, return_tensors="pt", add_special_tokens=False)
    labels = inputs["input_ids"].clone()
    marks = [i for i in processor.tokenizer.added_tokens_decoder if i > 1]
    labels[torch.isin(labels, torch.tensor(marks))] = -100
    if processor.tokenizer.bos_token is None:  # the first word of the text has nothing before it
        labels[0, (labels[0] != -100).nonzero()[0]] = -100
    with torch.no_grad():
        return float(model(**inputs, labels=labels).loss)


def test_every_family_is_tried() -> None:
    assert set(FAMILIES) == set(tiny_vlm.FAMILIES)


@pytest.mark.parametrize("family", tiny_vlm.FAMILIES)
def test_the_loss_is_that_of_transformers_with_and_without_images_packed_and_alone(family: str) -> None:
    made = scorer(family)
    assert made.model.packs is (family != "qwen3_5")  # whose state would go on from one document to the next
    packed = made.score(DOCUMENTS)
    assert [one["lm_images_seen"] for one in packed] == [2, 0, 3, 0]
    for one, doc in zip(packed, DOCUMENTS, strict=True):
        alone = made.score([doc])[0]
        seen = theirs(family, doc, without=False)
        assert one["lm_loss"] == pytest.approx(seen, abs=1e-5)
        assert alone["lm_loss"] == pytest.approx(seen, abs=1e-5)
        if one["lm_images_seen"]:
            assert one["lm_loss_without_images"] == pytest.approx(theirs(family, doc, without=True), abs=1e-5)
            assert one["lm_image_gain"] == pytest.approx(one["lm_loss_without_images"] - one["lm_loss"])
        else:
            assert one["lm_image_gain"] is None
    assert max(abs(one["lm_image_gain"] or 0) for one in packed) > 1e-3


@contextmanager
def beside(
    made: LanguageModelScorer, before: Callable[[int], None], after: Callable[[Any], Any] | None = None
) -> Iterator[None]:
    """Each pass of the language model tells `before` how many tokens it is given, and `after` what comes out."""

    def told(_model: Any, _given: Any, out: Any) -> None:
        if after is not None:
            after(out[0])

    text = made.model.text
    handles = [
        text.register_forward_pre_hook(lambda _m, _a, named: before(named["inputs_embeds"].shape[1]), with_kwargs=True),
        text.register_forward_hook(told),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@pytest.mark.parametrize("family", tiny_vlm.FAMILIES)
def test_an_image_that_is_not_to_be_had_or_is_none_leaves_the_text_as_if_it_had_none(family: str) -> None:
    plain, missing, broken = scorer(family).score(
        [document(A, B), document(A, "image:none", B), document(A, "image:bad", B)]
    )
    assert plain["lm_images_seen"] == missing["lm_images_seen"] == broken["lm_images_seen"] == 0
    assert missing["lm_loss"] == broken["lm_loss"] == pytest.approx(plain["lm_loss"], abs=1e-5)
    assert missing["lm_image_gain"] is broken["lm_image_gain"] is None


@pytest.mark.parametrize("family", tiny_vlm.FAMILIES)
def test_a_document_longer_than_the_model_is_scored_whole_and_its_image_seen(family: str) -> None:
    made, given = scorer(family, batch_tokens=1), list[int]()
    long = document(*[f"{A} {B} {C}"] * 4, "image:1", *[f"{C} {B}"] * 4)
    with beside(made, given.append):
        found = made.score([long])[0]
    assert (found["lm_tokens"] or 0) > 512 == made.model.positions
    assert max(given) <= 512
    assert found["lm_images_seen"] == 1 and found["lm_image_gain"] is not None
    assert math.isfinite(found["lm_loss"] or math.nan)


@pytest.mark.parametrize("family", tiny_vlm.FAMILIES)
def test_numbers_that_are_not_finite_are_nan_and_not_missing(family: str) -> None:
    made = scorer(family)
    with beside(made, lambda _: None, lambda out: out.fill_(math.nan)):
        seen, text = made.score(DOCUMENTS[:2])
    assert math.isnan(seen["lm_loss"] or 0) and math.isnan(seen["lm_image_gain"] or 0)
    assert math.isnan(text["lm_loss"] or 0)
    assert seen["lm_tokens"] and text["lm_tokens"]


@pytest.mark.parametrize("family", tiny_vlm.FAMILIES)
def test_what_does_not_fit_the_memory_is_halved_and_a_device_too_small_for_one_window_is_named(family: str) -> None:
    made, given = scorer(family), list[int]()
    expected = made.score(DOCUMENTS)
    with beside(made, given.append):
        for one in DOCUMENTS:
            made.score([one])
    most = max(given)

    def full(tokens: int) -> None:
        if tokens > most:
            raise torch.OutOfMemoryError("out of memory")

    with beside(made, full):
        for found, other in zip(made.score(DOCUMENTS), expected, strict=True):
            assert found["lm_loss"] == pytest.approx(other["lm_loss"], abs=1e-5)
        most = 1
        with pytest.raises(UserError, match=r"single window of \d+ tokens does not fit the memory of cpu; set window"):
            made.score(DOCUMENTS[:1])
