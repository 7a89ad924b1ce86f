"""Values kept small: they come back as they were, in the order that is asked for."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.packed import Packed

VALUES = st.lists(st.recursive(st.integers() | st.text() | st.binary(), st.lists, max_leaves=5))


@given(VALUES)
def test_all_values_come_back_in_their_order(values: list[object]) -> None:
    packed = Packed(values)
    assert list(packed) == [packed[i] for i in range(len(packed))] == values


@given(VALUES, st.data())
def test_some_are_chosen_by_their_places(values: list[object], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=9)) if values else []
    chosen = Packed(values).chosen(places)
    chosen.append("more")
    assert list(chosen) == [*(values[place] for place in places), "more"]


def test_what_is_packed_does_not_change_with_what_was_given() -> None:
    given_ = Ledger("documents")
    packed = Packed([given_])
    given_.keep()
    packed[0].keep(5)
    assert packed[0] == Ledger("documents")


def test_like_values_take_a_quarter_of_what_they_take_as_text() -> None:
    manifests = [_manifest(i) for i in range(50)]
    packed = Packed(manifests)
    assert list(packed) == manifests
    assert sum(map(len, packed._kept)) * 4 < sum(len(repr(manifest)) for manifest in manifests)


def _manifest(number: int) -> Manifest:
    sha256 = f"{number * 2**200 + 7**80:064x}"[-64:]
    files = {"data": {"name": f"unit-{number:012}-{sha256[:12]}.parquet", "sha256": sha256, "bytes": 30_256 + number}}
    ledger = Ledger("documents")
    for i in range(20):
        ledger.drop(f"reason_{i}", number + i)
    return Manifest(f"unit-{number:012}", "extract", files, {"documents": ledger}, {"rows": {"data": number}})
