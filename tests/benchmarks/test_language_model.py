from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from benchmarks.language_model import SMALL, TEXT, measure, of_text


def test_a_token_takes_two_operations_of_each_parameter_of_the_blocks_and_those_of_attention() -> None:
    text = SMALL.text
    width, inner, blocks = text["hidden_size"], text["intermediate_size"], text["num_hidden_layers"]
    matrices = 2 * width * width + 2 * width * width // 2 + 3 * width * inner  # half as many keys as queries
    each, head, _ = of_text(SMALL)
    assert each == blocks * (2 * matrices + 4 * TEXT * width)
    assert head == text["vocab_size"] * width


def test_documents_are_measured_with_the_image_gain_and_without(capsys: pytest.CaptureFixture[str]) -> None:
    measure(SMALL, 2, 1e12)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("image gain")]
    assert [line.split(":")[0] for line in lines] == ["image gain off", "image gain on"]
    assert all("documents/s on" in line and "TFLOP each" in line for line in lines)
