"""Packs give back what was put into them, and lose only what nobody names."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.stages.fetch import image_pack
from obelics_pipeline.stages.fetch.image_pack import PackWriter, Place, keep_only, mend, pack_path, spans_of

IMAGES = st.lists(st.binary(min_size=1, max_size=40), max_size=30)


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(folder: Path, contents: list[bytes], target: int = 100) -> dict[str, Place]:
    with PackWriter(folder, "bucket-0001", target) as writer:
        for content in contents:
            writer.add(sha256_of(content), content)
    return writer.places


def read(folder: Path, places: list[Place]) -> dict[Place, bytes]:
    return {place: content for span in spans_of(places) for place, content in span.read(folder)}


@given(IMAGES, st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_every_image_is_given_back_and_stored_once(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes], target: int
) -> None:
    folder = tmp_path_factory.mktemp("packs")
    places = packed(folder, contents, target)
    assert places.keys() == {sha256_of(content) for content in contents}
    found = read(folder, list(places.values()))
    assert {sha256: found[place] for sha256, place in places.items()} == {sha256_of(c): c for c in contents}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) == sum(map(len, set(contents)))
    assert all(path.suffix == ".pack" for path in files)
    before = {path: path.read_bytes() for path in files}
    assert packed(folder, contents, target) == places
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@given(IMAGES, st.data())
@settings(max_examples=60, deadline=None)
def test_what_nobody_names_becomes_zeros_and_the_rest_stays_where_it_is(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("packs")
    places = packed(folder, [b"\1" + content for content in contents])
    kept = {p for p in places.values() if data.draw(st.booleans())}
    for pack in sorted({place.pack for place in places.values()}):
        of_pack = [place for place in kept if place.pack == pack]
        before = pack_path(folder, pack).stat().st_size
        gone = keep_only(folder, pack, of_pack)
        if not of_pack:
            assert (gone, pack_path(folder, pack).exists()) == (before, False)
            continue
        assert gone == before - sum(place.length for place in of_pack)
        assert pack_path(folder, pack).stat().st_size == before
        after = pack_path(folder, pack).read_bytes()
        assert keep_only(folder, pack, of_pack) == 0
        assert pack_path(folder, pack).read_bytes() == after
        blank = [place for place in places.values() if place.pack == pack and place not in kept]
        assert all(not any(after[place.offset : place.end]) for place in blank)
    by_place = {place: sha256 for sha256, place in places.items()}
    assert all(sha256_of(content) == by_place[place] for place, content in read(folder, list(kept)).items())


@pytest.mark.parametrize("damage", [bytes, lambda size: b"", None])
def test_images_are_put_back_where_they_were(tmp_path: Path, damage: object) -> None:
    contents = [bytes([n]) * (n + 1) for n in range(1, 9)]
    places = packed(tmp_path, contents, 1000)
    path = next(tmp_path.glob("*/*.pack"))
    whole = path.read_bytes()
    if callable(damage):
        path.write_bytes(damage(len(whole)))
    else:
        path.unlink()
    mend(tmp_path, next(iter(places.values())).pack, [(places[sha256_of(c)], c) for c in contents])
    assert path.read_bytes() == whole


def test_neighbours_are_read_together_and_nothing_far_away_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_pack, "GAP", 10)
    monkeypatch.setattr(image_pack, "LARGEST", 100)
    one, other = "b/" + "0" * 32, "b/" + "1" * 32
    places = [Place(one, 0, 30), Place(one, 30, 30), Place(one, 65, 30), Place(one, 200, 5), Place(other, 205, 5)]
    spans = [[place.offset for place in span.places] for span in spans_of(reversed([*places, places[0]]))]
    assert spans == [[0, 30, 65], [200], [205]]
    small = [Place(one, 20 * n, 10) for n in range(3)]
    assert [len(span.places) for span in spans_of(small)] == [3], "as much as half may be read in vain"
    assert [len(span.places) for span in spans_of([Place(one, 14 * n, 4) for n in range(3)])] == [1, 1, 1]


def test_a_pack_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk"), PackWriter(tmp_path, "bucket-0001") as writer:
        writer.add("00", b"abc")
        raise OSError("disk full")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["", "../x/" + "0" * 32, "/etc/passwd", "a/b", "a/" + "0" * 32 + "/..", "..\0"])
def test_what_is_no_name_of_a_pack_is_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a pack"):
        pack_path(tmp_path, name)
