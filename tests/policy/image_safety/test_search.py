"""What is near a PDQ hash is found, all of it and nothing else, by bands as by comparing with each."""

from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.policy.image_safety import search
from obelics_pipeline.policy.image_safety.search import Exact, Near, band_bits, flips, made, opened, reaches, save


def hashes(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (n, 32), dtype=np.uint8)


def changed(value: np.ndarray, bits: int, seed: int, spread: bool = False) -> bytes:
    """A hash with so many of its bits flipped; `spread` over its bands as evenly as can be: hardest to find."""
    draw = np.random.default_rng(seed)
    at = np.arange(bits) * 8 % 256 + np.arange(bits) // 32 if spread else draw.choice(256, bits, replace=False)
    flipped = np.unpackbits(value)
    flipped[at] ^= 1
    return np.packbits(flipped).tobytes()


def lists(n: int) -> np.ndarray:
    return np.arange(n).astype(np.uint16) % 3


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_what_is_listed_is_found_as_it_is(kind: str) -> None:
    width = {"sha256": 32, "md5": 16}[kind]
    values = hashes(1000)[:, :width].copy()
    values[5, :8] = values[6, :8]  # equal to the first word
    values[7] = values[8]
    of = Exact(made(kind, values.tobytes(), width, lists(1000)))
    for row in range(1000):
        hit = of.find(values[row].tobytes())
        assert hit is not None and hit.value == values[row].tobytes()
        assert hit.list_number == (1 if row in (7, 8) else row % 3)
    assert all(of.find(value[:width].tobytes()) is None for value in hashes(200, seed=1))
    assert of.find(changed(np.pad(values[0], (0, 32 - width)), 1, 0, spread=True)[:width]) is None


@pytest.mark.parametrize("bits", [0, 1, 15, 16, 30, 31])
@pytest.mark.parametrize("all_", [0, 10**6])
def test_up_to_the_distance_it_is_found_and_one_bit_beyond_it_is_not(
    bits: int, all_: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ALL", all_)
    values = hashes(3000)
    of = Near(Near.files(values.tobytes(), lists(3000)))
    for row in range(0, 3000, 60):
        for spread in (False, True):
            hit = of.find(changed(values[row], bits, row, spread), 31)
            assert hit is not None and (hit.value, hit.distance) == (values[row].tobytes(), bits)
            assert of.find(changed(values[row], 32, row, spread), 31) is None


@pytest.mark.parametrize("distance", [0, 15, 16, 31, 47, 63])
def test_bands_find_what_comparing_with_each_finds(distance: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = hashes(2000, seed=3)
    wanted = [changed(values[row], row % 70, row, spread=row % 2 == 0) for row in range(0, 2000, 10)]
    wanted += [value.tobytes() for value in hashes(100, seed=4)]
    with_each = Near(Near.files(values.tobytes(), lists(2000)))
    monkeypatch.setattr(search, "ALL", 0)
    by_bands = Near(Near.files(values.tobytes(), lists(2000)))
    found = [by_bands.find(value, distance) for value in wanted]
    assert found == [with_each.find(value, distance) for value in wanted]
    assert any(found) and not all(found)


def test_of_several_that_are_near_the_nearest_is_told() -> None:
    value = hashes(1)[0]
    near, nearer = changed(value, 9, 1), changed(value, 3, 2)
    of = Near(Near.files(near + nearer, np.array([0, 1], np.uint16)))
    hit = of.find(value.tobytes(), 31)
    assert hit is not None and (hit.value, hit.distance, hit.list_number) == (nearer, 3, 1)


def test_files_are_searched_as_they_were_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "ALL", 0)
    values = hashes(500)
    save(tmp_path, "pdq", made("pdq", values.tobytes(), 32, lists(500)))
    of = Near(opened(tmp_path, "pdq"))
    assert of.find(changed(values[9], 31, 1), 31) == Near(Near.files(values.tobytes(), lists(500))).find(
        changed(values[9], 31, 1), 31
    )
    assert opened(tmp_path, "md5") == {}


def test_flips_are_all_values_of_a_band_within_reach() -> None:
    assert [len(flips(16, reach)) for reach in (0, 1, 2, 3)] == [1, 17, 137, 697]
    assert max(bin(int(value)).count("1") for value in flips(16, 2)) == 2


@pytest.mark.parametrize("distance", [0, 5, 10, 31, 47, 63])
@pytest.mark.parametrize("n", [300, 50_000, 10**7])
def test_reaches_leave_no_room_for_a_match_outside_of_them(n: int, distance: int) -> None:
    bands = 256 // band_bits(n)
    found = reaches(bands, distance)
    assert len(found) <= bands and min(found) >= 0
    assert sum(reach + 1 for reach in found) == distance + 1  # the least that a hash out of all reaches differs by
