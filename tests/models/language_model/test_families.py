"""Each family that reads images: what is measured is the loss of transformers' own forward, processor and all."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import Document, ImageNode, TextNode
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
