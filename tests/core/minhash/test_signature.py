"""Signatures: equal for equal texts on every machine, close for close ones, compiled or not."""

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.minhash import characters, minhash_pure, signature
from obelics_pipeline.core.minhash.signature import Signatures, Signer

WORDS = [f"word{i}" for i in range(5000)]


def small() -> Signer:
    return Signer(shingle_words=5, permutations=64, bands=4, rows=4)


def pure(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> Signatures:
    with monkeypatch.context() as patch:
        patch.setattr(signature, "sign_text", minhash_pure.sign)
        return small().sign(texts)


def alike(*texts: str) -> bool:
    found = small().sign(texts)
    return all((found.band_keys == found.band_keys[0]).all(axis=1) & (found.sketches == found.sketches[0]).all(axis=1))


def estimated(found: Signatures, one: int, other: int) -> float:
    differ = int(np.bitwise_count(found.sketches[one] ^ found.sketches[other]).sum())
    return 1 - 2 * differ / (8 * found.sketches.shape[1])


def pairs_of_similarity(similarity: float, shingles: int, count: int) -> list[str]:
    """Texts of which the first and second, third and fourth … share so much of their shingles (5 words), nearly.

    A block of words stands in both, and each goes on with words of its own.
    """
    random_ = random.Random(7)
    shared = round(2 * shingles * similarity / (1 + similarity))
    texts = []
    for _ in range(count):
        block = random_.choices(WORDS, k=shared + 4)
        texts += [" ".join(block + random_.choices(WORDS, k=shingles - shared)) for _ in range(2)]
    return texts


def test_signatures_are_the_same_on_every_machine() -> None:
    found = small().sign(["The quick brown fox jumps over the lazy dog.", "中文文本没有空格", ""])
    assert [f"{key:016x}" for key in found.band_keys[:, 0].tolist()] == [
        "d46eddbd133c4b18",
        "bd3d8c688ebe69f8",
        "57ff21984cccc4ed",
    ]
    assert [row.tobytes().hex() for row in found.sketches] == [
        "b5528202321c766c",
        "ffd2550553c374b1",
        "0000000000000000",
    ]
    assert found.words.tolist() == [9, 8, 0]


def test_case_marks_and_spaces_make_no_difference() -> None:
    assert alike(
        "Ångström says: it's “one two three” four - five!",
        "ÅNGSTRÖM SAYS IT S\u00a0ONE TWO THREE FOUR FIVE",
        "A\u030angstro\u0308m says...  it's one\ntwo th\u00adree four five",
    )
    assert not alike("one two three four five", "one two three five four")
    assert not alike("one two three four five", "onetwo three four five")
    assert not alike("one two three four five six", "one two three four five")


def test_scripts_without_spaces_are_compared_character_by_character() -> None:
    found = small().sign(
        ["我们在这里写一些中文", "我们 在这里，写一些中文。", "ภาษาไทย", "한국어 문장", "हिन्दी में", "abc中文def"]
    )
    assert found.words.tolist() == [10, 10, 7, 2, 2, 4]
    assert (found.band_keys[0] == found.band_keys[1]).all()


def test_a_text_shorter_than_a_shingle_is_one() -> None:
    assert alike("one two", "One, two")
    assert not alike("one two", "one two three")
    assert not alike("one", "two")


def test_words_beyond_the_table_count() -> None:
    assert not alike("𠀀𠀁𠀂𠀃𠀄", "𠀀𠀁𠀂𠀃𠀅")
    assert small().sign(["𠀀𠀁\U000e0100 \U0010ffff"]).words.tolist() == [2]


def test_bands_are_apart() -> None:
    keys = small().sign(["one two three four five"]).band_keys[0].tolist()
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("similarity", [0.5, 0.8, 0.9, 0.95])
def test_the_sketch_estimates_the_similarity(similarity: float) -> None:
    found = Signer(5, 512, 16, 8).sign(pairs_of_similarity(similarity, 500, 200))
    estimates = [estimated(found, i, i + 1) for i in range(0, 400, 2)]
    deviation = 2 * (((1 + similarity) / 2) * ((1 - similarity) / 2) / 512) ** 0.5  # of one; binomial
    assert abs(np.mean(estimates) - similarity) < 5 * deviation / 200**0.5
    assert 0.8 * deviation < np.std(estimates) < 1.2 * deviation


@pytest.mark.parametrize("similarity", [0.6, 0.8, 0.9])
def test_keys_meet_as_often_as_the_curve_says(similarity: float) -> None:
    bands, rows, count = 16, 8, 400
    found = Signer(5, 128, bands, rows).sign(pairs_of_similarity(similarity, 200, count))
    met = (found.band_keys[::2] == found.band_keys[1::2]).any(axis=1).mean()
    expected = 1 - (1 - similarity**rows) ** bands
    assert abs(met - expected) < 4 * (expected * (1 - expected) / count) ** 0.5 + 0.01


def test_unlike_texts_look_unlike() -> None:
    random_ = random.Random(3)
    found = Signer(5, 512, 16, 8).sign([" ".join(random_.choices(WORDS, k=300)) for _ in range(100)])
    assert np.unique(found.band_keys).size == found.band_keys.size
    estimates = [estimated(found, 0, i) for i in range(1, 100)]
    assert max(map(abs, estimates)) < 0.2


@pytest.mark.skipif(not signature.COMPILED, reason="there is no C compiler")
@given(st.lists(st.text(max_size=200) | st.text("ab 中\u0301\u093e\u00ad𠀀\U000e0100.", max_size=60), max_size=5))
@settings(max_examples=200)
@example(["\u093ea\u093e中\u093ea\u093e 中中", "𠀀\u093e𠀀", "\U000e0100\ud800a"])
def test_compiled_is_pure(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        expected = pure(texts, patch)
    for one, other in zip(small().sign(texts), expected, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.skipif(not signature.COMPILED, reason="there is no C compiler")
@pytest.mark.parametrize("permutations", [8, 72, 128, 520])
def test_compiled_is_pure_for_any_number_of_functions(permutations: int) -> None:
    text = " ".join(random.Random(5).choices(WORDS, k=3000))
    signer = Signer(3, permutations, 2, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signature, "sign_text", minhash_pure.sign)
        expected = signer.sign([text])
    assert np.array_equal(signer.sign([text]).sketches, expected.sketches)


@pytest.mark.skipif(not signature.COMPILED, reason="there is no C compiler")
def test_buffers_that_do_not_fit_are_refused() -> None:
    functions, keys, sketch = np.ones(16, np.uint32), np.empty(2, np.uint64), np.empty(2, np.uint8)
    table = characters.table()
    assert signature.sign_text("a", table, functions, functions, 5, 8, keys, sketch) == 1
    for wrong in (
        (table[4:], functions, functions, 5, 8, keys, sketch),
        (table, functions, functions[1:], 5, 8, keys, sketch),
        (table, functions, functions, 0, 8, keys, sketch),
        (table, functions, functions, 5, 0, keys, sketch),
        (table, functions, functions, 5, 9, keys, sketch),
        (table, functions, functions, 5, 8, keys, np.empty(3, np.uint8)),
    ):
        with pytest.raises(ValueError, match="buffers"):
            signature.sign_text("a", *wrong)


@pytest.mark.parametrize(
    "wrong", [(0, 64, 4, 4), (5, 60, 4, 4), (5, 64, 0, 4), (5, 64, 4, 0), (5, 64, 5, 13), (5, 0, 1, 1)]
)
def test_settings_that_do_not_fit_are_refused(wrong: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="at least bands x rows"):
        Signer(*wrong)


def test_no_text_no_row() -> None:
    found = small().sign([])
    assert [part.shape for part in found] == [(0, 4), (0, 8), (0,)]


@pytest.mark.timeout(60)  # a hang: it takes two seconds at the most
@pytest.mark.parametrize(
    "text", ["a" * 10**6, "a " * 500_000, "a\u0301\u0316" * 300_000, "中" * 10**6], ids=lambda t: t[:3]
)
def test_long_texts_take_linear_time(text: str) -> None:
    if not signature.COMPILED:
        text = text[:50_000]
    small().sign([text])  # quadratic, each would outlast the limit
