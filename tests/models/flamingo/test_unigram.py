from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.flamingo.unigram import Unigram, token_counts


def test_a_frequent_token_costs_less_and_the_probabilities_sum_to_one() -> None:
    loss = Unigram.from_counts(np.array([8, 0, 2])).loss
    assert loss[0] < loss[2] < loss[1]
    assert np.exp(-loss).sum() == pytest.approx(1)
    assert np.exp(-loss[0]) == pytest.approx(9 / 13)


def test_counts_are_those_of_the_tokens_of_all_texts() -> None:
    def encode(text: str) -> list[int]:
        return [int(c) for c in text]

    assert token_counts(["0112", "", "3"], encode, 5).tolist() == [1, 2, 1, 1, 0]


def test_counts_are_read_as_they_were_saved(tmp_path: Path) -> None:
    np.save(tmp_path / "counts.npy", np.array([1, 2, 3]))
    np.testing.assert_array_equal(
        Unigram.load(tmp_path / "counts.npy", 3).loss, Unigram.from_counts(np.array([1, 2, 3])).loss
    )


def test_counts_of_another_vocabulary_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "counts.npy", np.array([1, 2, 3]))
    with pytest.raises(UserError, match=r"int64 \(3,\); integers \(4,\) are wanted"):
        Unigram.load(tmp_path / "counts.npy", 4)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "counts.npy", np.array([{}], dtype=object))
    with pytest.raises(UserError, match="cannot be read"):
        Unigram.load(tmp_path / "counts.npy", 1)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        Unigram.load(tmp_path / "nowhere.npy", 1)
