"""Perplexity needs a model, and must say so."""

from pathlib import Path

import pytest

from filters import Text, build
from obelics_pipeline.errors import UserError


def test_without_a_folder_nothing_is_measured_and_it_says_so() -> None:
    measuring = build("perplexity", {"folder": None})
    assert measuring.score(Text("any words", "en")) is None
    assert measuring.not_applied == "no model is given (options.folder)"  # type: ignore[attr-defined]


def test_a_folder_without_models_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no <language>\.arpa\.bin in .*edugp/kenlm"):
        build("perplexity", {"folder": str(tmp_path)})


def test_a_broken_model_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "en.arpa.bin").write_bytes(b"no model")
    (tmp_path / "en.sp.model").write_bytes(b"no model")
    with pytest.raises(UserError, match=r"pip install kenlm sentencepiece|cannot be read") as error:
        build("perplexity", {"folder": str(tmp_path)})
    assert "\n" not in str(error.value)
