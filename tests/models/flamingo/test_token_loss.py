from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.models.flamingo.assembly import MEAN, STD, FlamingoModel
from obelics_pipeline.models.flamingo.layout import Layout, Piece, lay_out
from obelics_pipeline.models.flamingo.token_loss import Losses, encode_images, token_losses
from tests.models.flamingo import tiny

A, B, C = tiny.SENTENCES
DOCUMENTS: dict[str, list[Piece]] = {
    "text before and after an image": [A, 0, B],
    "image first": [1, A, 2, B],
    "image last": [A, 3],
    "consecutive images": [A, 0, 1, B, 2, C],
    "no image": [A + B + C],
    "one word": ["ferry"],
    "an image twice, and not in order": [2, A, 0, B, 2, C],
    "literal marks": [0, "before <image> and <|endofchunk|> after </s>", 1, A],
}
WITHOUT_TEXT: dict[str, list[Piece]] = {"images only": [0, 1], "nothing": [], "white space": [" \n", 0, "<image>"]}


@cache
def model(kind: str = "gpt_neox", begin: str | None = "<s>") -> FlamingoModel:
    return tiny.flamingo(kind, begin=begin)


@cache
def latents(kind: str = "gpt_neox", seed: int = 0) -> Any:
    return encode_images(model(kind), [tiny.pictures(4, seed)])


def laid_out(parts: list[Piece], kind: str = "gpt_neox") -> Layout:
    m = model(kind)
    return lay_out(parts, m.encoder(), m.marks, m.literals)


def losses(parts: list[Piece], kind: str = "gpt_neox", seed: int = 0) -> Losses:
    """Of a document alone."""
    (found,) = token_losses(model(kind), [laid_out(parts, kind)], latents(kind, seed), max_tokens=1000)
    return found


def own_loss(parts: list[Piece], kind: str) -> float:
    """What open_flamingo itself says: pictures in, loss of the labels out."""
    m, row = model(kind), laid_out(parts, kind)
    pictures = torch.from_numpy(tiny.pictures(4)[list(row.images) or [0]]).permute(0, 3, 1, 2) / 255
    vision_x = (pictures - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)
    ids = torch.from_numpy(row.ids)[None]
    labels = torch.from_numpy(np.where(row.scored, row.ids, -100))[None]
    with torch.inference_mode():
        out = m.flamingo(vision_x[None, :, None], ids, attention_mask=torch.ones_like(ids), labels=labels)
    return float(out.loss)


@pytest.mark.parametrize("kind", ["gpt_neox", "opt", "mpt"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_mean_is_the_loss_that_flamingo_itself_gives_for_these_labels(kind: str, name: str) -> None:
    assert losses(DOCUMENTS[name], kind).mean() == pytest.approx(own_loss(DOCUMENTS[name], kind), abs=1e-5)


@pytest.mark.parametrize("kind", ["gpt_neox", "opt", "mpt"])
def test_a_document_alone_and_in_a_padded_batch_has_the_same_losses(kind: str) -> None:
    rows = [laid_out(parts, kind) for parts in (DOCUMENTS | WITHOUT_TEXT).values()]
    together = token_losses(model(kind), rows, latents(kind), max_tokens=100_000)
    for parts, found in zip((DOCUMENTS | WITHOUT_TEXT).values(), together, strict=True):
        np.testing.assert_allclose(found, losses(parts, kind), atol=1e-5)


def test_images_change_the_text_behind_them_and_not_the_text_before() -> None:
    before = len(model().encoder()(A))
    one, other = losses([A, 0, B]), losses([A, 0, B], seed=1)
    np.testing.assert_array_equal(one[:before], other[:before])
    assert (np.abs(one[before:] - other[before:]) > 1e-3).mean() > 0.9


def test_text_is_read_with_the_nearest_image_before_it() -> None:
    # Through one block a token hears of an earlier image from its neighbours only; the first behind a mark, of its own.
    one, swapped = losses([0, A, 1, B]), losses([0, A, 2, B])
    middle = len(model().encoder()(A))
    np.testing.assert_array_equal(one[:middle], swapped[:middle])
    assert np.abs(one[middle:] - swapped[middle:]).max() > 1e-3


def test_other_images_change_nothing_where_there_is_none() -> None:
    np.testing.assert_array_equal(losses(DOCUMENTS["no image"]), losses(DOCUMENTS["no image"], seed=1))


def test_a_picture_of_zeros_latents_is_attended_to_by_nothing() -> None:
    # What "without the images" means: the gated attention adds zero, as for text before the first image.
    m, row = model(), laid_out([0, A])
    hidden = token_losses(m, [row], torch.zeros_like(latents()), 1000)[0]
    for block in m.flamingo.lang_encoder.gated_cross_attn_layers:
        block.attn_gate.data.fill_(0.0)
    try:
        closed = token_losses(m, [row], latents(), 1000)[0]
    finally:
        for block in m.flamingo.lang_encoder.gated_cross_attn_layers:
            block.attn_gate.data.fill_(0.7)
    np.testing.assert_allclose(hidden, closed, atol=1e-6)
    assert np.abs(hidden - losses([0, A])).max() > 1e-3


@pytest.mark.parametrize("name", WITHOUT_TEXT)
def test_a_document_without_text_has_no_losses(name: str) -> None:
    assert losses(WITHOUT_TEXT[name]).shape == (0,)


def test_no_documents_have_no_losses() -> None:
    assert token_losses(model(), [], None, 1000) == []
    assert [len(x) for x in token_losses(model(), [laid_out([])], None, 1000)] == [0]


def test_the_first_token_has_no_loss_where_the_tokenizer_has_none_to_begin_with() -> None:
    m = model(begin=None)
    m = replace(m, marks=replace(m.marks, begin=None))
    row = lay_out([A], m.encoder(), m.marks, m.literals)
    (found,) = token_losses(m, [row], None, 1000)
    assert len(found) == len(row.ids) - 1


def test_images_are_encoded_alike_in_batches_of_any_size() -> None:
    pictures = tiny.pictures(4)
    apart = encode_images(model(), [pictures[:1], pictures[1:], pictures[:0]])
    torch.testing.assert_close(apart, latents(), atol=1e-5, rtol=0)
    assert encode_images(model(), []) is None


def test_the_model_is_left_without_anything_of_the_documents() -> None:
    losses([0, A])
    m = model().flamingo
    assert not m.lang_encoder._use_cached_vision_x
    assert all(layer.vis_x is None for layer in m.lang_encoder._get_decoder_layers())


class Limited(torch.nn.Module):  # type: ignore[misc]
    """A Flamingo on a device with room for so many padded tokens and pictures at a time."""

    def __init__(self, inner: Any, tokens: int, pictures: int = 1000) -> None:
        super().__init__()
        self.inner, self.tokens, self.pictures = inner, tokens, pictures
        self.refused: list[int] = []

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("inner"), name)

    def forward(self, vision_x: Any, lang_x: Any, **others: Any) -> Any:
        self._demand(lang_x.numel(), self.tokens)
        return self.inner(vision_x, lang_x, **others)

    def _encode_vision_x(self, vision_x: Any) -> None:
        self._demand(len(vision_x), self.pictures)
        self.inner._encode_vision_x(vision_x=vision_x)

    def _demand(self, wanted: int, room: int) -> None:
        if wanted > room:
            self.refused.append(wanted)
            raise torch.OutOfMemoryError(f"tried to allocate {wanted}")


def test_a_batch_that_does_not_fit_is_halved_and_nothing_is_lost() -> None:
    rows = [laid_out(parts) for parts in DOCUMENTS.values()]
    longest = max(len(row.ids) for row in rows)
    limited = Limited(model().flamingo, tokens=2 * longest, pictures=1)
    small = replace(model(), flamingo=limited)
    found = token_losses(small, rows, encode_images(small, [tiny.pictures(4)]), max_tokens=100_000)
    assert limited.refused
    for parts, loss in zip(DOCUMENTS.values(), found, strict=True):
        np.testing.assert_allclose(loss, losses(parts), atol=1e-5)


def test_one_row_that_does_not_fit_is_an_error() -> None:
    small = replace(model(), flamingo=Limited(model().flamingo, tokens=10))
    with pytest.raises(torch.OutOfMemoryError):
        token_losses(small, [laid_out([A]), laid_out([B])], None, max_tokens=1000)


@pytest.mark.parametrize("kind", ["gpt_neox", "opt"])
def test_bfloat16_is_near_float32(kind: str) -> None:
    from obelics_pipeline.models.device.placement import cast

    half = tiny.flamingo(kind)
    cast(half.flamingo, torch.bfloat16)
    rows = [laid_out(parts, kind) for parts in DOCUMENTS.values()]
    found = token_losses(half, rows, encode_images(half, [tiny.pictures(4)]), 1000)
    exact = token_losses(model(kind), rows, latents(kind), 1000)
    assert [x.dtype for x in found] == [np.float32] * len(rows)
    assert np.concatenate(found).mean() == pytest.approx(np.concatenate(exact).mean(), rel=0.02)
