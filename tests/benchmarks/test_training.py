"""The benchmarks of training run from end to end on tiny models, and count what is computed."""

import sys
from itertools import islice

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from benchmarks import training, training_gpu
from benchmarks.training_model import SMALL, batches


def test_made_rows_are_full_and_every_image_is_looked_at() -> None:
    [batch] = islice(batches(SMALL, 700, 3), 1)
    packed = batch.packed
    assert int((packed.segment < 0).sum()) <= 3
    assert packed.n_spans >= 4
    assert len(packed.pictures) == int((packed.ids == SMALL.words + 1).sum()) == int((packed.picture_of >= 0).sum())
    assert not packed.target[packed.position == 0].any()


def test_operations_are_those_of_the_products_and_what_is_frozen_has_no_gradient_of_its_weights() -> None:
    [batch] = islice(batches(SMALL, 256, 1), 1)
    packed = batch.packed
    tokens, width, inner = packed.ids.numel(), SMALL.width, SMALL.inner
    # of the language model: forward and the gradient of what passes through, 2 operations a weight and token each
    blocks = SMALL.layers * (4 * width**2 + 3 * width * inner) * 4 * tokens
    seen = int((packed.position[packed.segment >= 0] + 1).sum())
    attention = SMALL.layers * 12 * width * seen
    targets = int(packed.target.sum())
    head = 2 * 2 * targets * width * SMALL.words
    found = training_gpu.operations(SMALL, packed)
    patches, side = (SMALL.side // SMALL.patch) ** 2, SMALL.vision_width
    pictures = len(packed.pictures)
    tower = 2 * pictures * patches * SMALL.vision_layers * (4 * side**2 + 2 * side * SMALL.vision_inner)
    assert blocks + attention + head + tower < found
    # what is new is computed three times over: forward, and two gradients
    shared = SMALL.cross_heads * SMALL.cross_head_dim
    n_latents = pictures * SMALL.latents
    gated = 2 * (2 * width * shared + 8 * width**2) * tokens + 2 * 2 * side * shared * n_latents
    per_layer = (2 * side * shared + 8 * side**2) * n_latents + 2 * side * shared * (n_latents + pictures * patches)
    new = 6 * (gated + SMALL.resampler_depth * per_layer)
    assert found == pytest.approx(blocks + attention + head + tower + new, rel=0.2)


def test_an_interval_holds_its_median() -> None:
    low, high = training.interval([1.0, 1.1, 1.2, 1.3, 5.0])
    assert 1.0 <= low <= 1.2 <= high <= 5.0


@pytest.mark.slow
def test_the_cost_of_watching_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["training.py", "--small", "--repeat", "2"])
    training.main()
    said = capsys.readouterr().out
    assert "accounts: " in said
    assert "monitors: a sampled step " in said
    assert "together " in said


@pytest.mark.slow
def test_the_script_for_a_gpu_runs_small_on_a_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["training_gpu.py", "--small"])
    training_gpu.main()
    assert "tokens per second" in capsys.readouterr().out
