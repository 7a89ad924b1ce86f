import numpy as np
import pytest

from obelics_pipeline.training.plan.chance import draws, far_from, key, permutation, words


def test_a_permutation_has_every_number_once_and_is_the_same_for_ever() -> None:
    assert sorted(permutation(1000, key(1, "a")).tolist()) == list(range(1000))
    assert permutation(8, key(0, "documents", "web")).tolist() == [6, 4, 3, 1, 0, 7, 2, 5]  # whatever NumPy there is
    assert permutation(8, key(1, "documents", "web")).tolist() != permutation(8, key(0, "documents", "web")).tolist()


def test_the_words_are_those_of_splitmix64() -> None:
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]  # rosettacode.org, seed 1234567
    assert words(3, np.uint64(1234567)).tolist() == published


def test_draws_are_even_and_belong_to_the_content() -> None:
    contents = words(100_000, key(3, "contents"))
    found = draws(contents, key(0, "held_out"))
    assert abs(float(found.mean()) - 0.5) < 0.01
    assert 0 <= found.min() < found.max() < 1
    assert (draws(contents[::-1].copy(), key(0, "held_out"))[::-1] == found).all()
    other = draws(contents, key(0, "share"))
    assert abs(float(np.corrcoef(found, other)[0, 1])) < 0.02


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 40, 1000])
def test_the_next_pass_is_another_order_and_far_from_the_last(n: int) -> None:
    gap = -(-n // 4)
    before = permutation(n, key(n, "first"))
    for turn in range(5):
        after = far_from(before, np.array([0, n]), gap, key(n, turn))
        assert sorted(after.tolist()) == list(range(n))
        places = np.argsort(after) + n - np.argsort(before)
        assert places.min() >= gap
        before = after


def test_items_stay_in_their_blocks() -> None:
    before, blocks = np.arange(100), np.array([0, 30, 90, 100])
    after = far_from(before, blocks, 25, key(0))
    for low, high in ((0, 30), (30, 90), (90, 100)):
        assert sorted(after[low:high].tolist()) == list(range(low, high))
    assert after.tolist() != before.tolist()
