"""The network's sums are whole, whoever adds them; what does not fit together is refused."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.network import (
    APART,
    LIMIT,
    NEAR,
    ONE,
    TAPS,
    TOPIC_GAIN,
    WAYS,
    WEIGHT_ONE,
    Network,
)
from obelics_pipeline.models.farm_detector.tokens import ENDINGS, FIRST_WORD, LOOKS
from tests.models.farm_detector.small import arrays

WORDS = len(arrays()["words"])


def tokens(count: int, seed: int = 3) -> NDArray[np.int32]:
    random = np.random.default_rng(seed)
    return random.integers(0, [WORDS, ENDINGS, LOOKS], (count, 3)).astype(np.int32)


def in_integers(network: Network, rows: NDArray[np.int32]) -> list[list[int]]:
    """The same, number by number, as it is defined."""
    weights = {name: array.tolist() for name, array in network.arrays().items()}
    count = len(rows)
    word = [int(row[0]) for row in rows]
    seen = []
    for row in rows:
        three = [weights[table][int(at)] for table, at in zip(("words", "endings", "looks"), row, strict=True)]
        seen.append([max(-LIMIT, min(LIMIT, sum(values))) for values in zip(*three, strict=True)])
    topics = [weights["topics"][w] for w in word]

    def agreement(at: int) -> list[int]:
        near = range(max(0, at - NEAR), min(count, at + NEAR + 1))
        found = []
        for others, size in ((range(count), count), (near, 2 * NEAR + 1)):
            for i, own in enumerate(topics[at]):
                value = own * sum(topics[o][i] for o in others) * TOPIC_GAIN / (ONE * size)
                found.append(max(-LIMIT, min(LIMIT, round(value))))
        return found

    def taps(values: list[list[int]], layer: int, at: int) -> list[int]:
        places = [at + (tap - TAPS[layer] // 2) * APART[layer] for tap in range(TAPS[layer])]
        nothing = [0] * len(values[0])
        return [v for place in places for v in (values[place] if 0 <= place < count else nothing)]

    def layer(inputs: list[list[int]], name: str) -> list[list[int]]:
        return [
            [
                max(0, min(ONE, (sum(map(int.__mul__, row, column)) + bias + WEIGHT_ONE // 2) // WEIGHT_ONE))
                for column, bias in zip(zip(*weights[name], strict=True), weights[f"{name}_bias"], strict=True)
            ]
            for row in inputs
        ]

    one = layer([taps(seen, 0, at) for at in range(count)], "first")
    two = layer([taps(one, 1, at) + agreement(at) for at in range(count)], "second")
    three = layer([taps(two, 2, at) for at in range(count)], "third")
    return [
        [
            sum(map(int.__mul__, row, column)) + bias
            for column, bias in zip(zip(*weights["output"], strict=True), weights["output_bias"], strict=True)
        ]
        for row in (a + b + c for a, b, c in zip(one, two, three, strict=True))
    ]


@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_it_is_what_its_definition_says_to_the_last_digit(count: int) -> None:
    network = Network.of(arrays())
    found = network.read_in_numpy(tokens(count))
    assert found.tolist() == in_integers(network, tokens(count))
    assert len({tuple(row) for row in found.tolist()}) > count // 2


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("channels", "hidden"), [(1, 1), (6, 5), (7, 17), (64, 96), (33, 115)])
def test_compiled_it_says_the_same_for_networks_and_texts_of_any_size(way: str, channels: int, hidden: int) -> None:
    network = Network.of(arrays(4, channels=channels, hidden=hidden))
    for count in (0, 1, 2, 3, 4, 5, 24, 25, 26, 31, 32, 33, 49, 50, 64, 300):
        rows = tokens(count, count)
        assert network.read_compiled(rows, way).tolist() == network.read_in_numpy(rows).tolist(), count


@pytest.mark.parametrize("way", WAYS)
def test_compiled_it_says_the_same_where_all_sums_are_as_large_as_they_can_be(way: str) -> None:
    for sign in (LIMIT, -LIMIT):
        same = {name: np.full_like(array, LIMIT) for name, array in arrays(channels=64, hidden=96).items()}
        network = Network.of(same | {name: np.full_like(same[name], sign) for name in ("words", "first", "output")})
        rows = tokens(40)
        assert network.read_compiled(rows, way).tolist() == network.read_in_numpy(rows).tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", [(WORDS, 0, 0), (0, ENDINGS, 0), (0, 0, LOOKS), (-1, 0, 0)])
def test_compiled_it_reads_no_row_that_a_table_does_not_have(way: str, row: tuple[int, int, int]) -> None:
    with pytest.raises(IndexError, match="token 1: no row"):
        Network.of(arrays()).read_compiled(np.array([(0, 0, 0), row], np.int32), way)


def test_no_tokens_say_nothing() -> None:
    assert Network.of(arrays()).read(np.zeros((0, 3), np.int32)).shape == (0, 3)


def test_a_token_is_seen_as_far_as_the_layers_reach_and_its_topic_everywhere() -> None:
    reach = sum(taps // 2 * apart for taps, apart in zip(TAPS, APART, strict=True))
    assert seen_from(30, with_topics=False) == {*range(30 - reach, 31 + reach)}
    assert seen_from(30, with_topics=True) == {*range(60)}


def seen_from(place: int, with_topics: bool) -> set[int]:
    """The tokens for which it matters, in some text, which token is at a place."""
    found: set[int] = set()
    for seed in range(60):
        made = arrays(seed)
        network = Network.of(made if with_topics else made | {"topics": np.zeros_like(made["topics"])})
        rows = tokens(60, seed)
        other = rows.copy()
        other[place] = (rows[place] + 1) % [WORDS, ENDINGS, LOOKS]
        found |= {*np.flatnonzero((network.read(rows) != network.read(other)).any(axis=1)).tolist()}
    return found


def changed(name: str, value: Any) -> dict[str, Any]:
    return arrays() | {name: value}


@pytest.mark.parametrize(
    "wrong",
    [
        {name: array for name, array in arrays().items() if name != "looks"},
        changed("words", arrays()["words"].astype(np.int16)),
        changed("words", arrays(words=FIRST_WORD - 1)["words"]),
        changed("topics", arrays()["topics"][:-1]),
        changed("endings", arrays()["endings"][:-1]),
        changed("first", arrays()["first"][:-1]),
        changed("second", arrays()["second"][:, :-1]),
        changed("third_bias", arrays()["third_bias"].astype(np.int64)),
        changed("output_bias", np.zeros(4, np.int32)),
        changed("first_bias", np.full(5, 2**24, np.int32)),
        changed("words", np.zeros((), np.int8)),
        changed("third", np.full_like(arrays()["third"], -128)),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^(no array )?[a-z_]+(: |$)"):
        Network.of(wrong)
