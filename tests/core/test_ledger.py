"""Ledgers: nothing disappears uncounted."""

import pytest

from obelics_pipeline.core.ledger import Ledger, total


def test_what_enters_is_kept_dropped_or_failed() -> None:
    ledger = Ledger("records")
    ledger.keep(3)
    ledger.drop("http_404")
    ledger.fail("damaged_member", 2)
    assert ledger.balanced()
    assert ledger.to_json() == {"in": 6, "kept": 3, "dropped": {"http_404": 1}, "failed": {"damaged_member": 2}}


def test_a_missing_item_unbalances_it() -> None:
    ledger = Ledger("records")
    ledger.keep()
    ledger.entered += 1
    assert not ledger.balanced()


def test_reasons_are_written_in_order_whatever_the_order_of_counting() -> None:
    one, other = Ledger("documents"), Ledger("documents")
    for reason in ("b", "a"):
        one.drop(reason)
    for reason in ("a", "b"):
        other.drop(reason)
    assert list(one.to_json()["dropped"]) == list(other.to_json()["dropped"]) == ["a", "b"]


def test_the_total_is_the_sum_and_survives_json() -> None:
    parts = [Ledger("images"), Ledger("images")]
    parts[0].keep(2)
    parts[1].fail("timeout")
    summed = total("images", (Ledger.from_json("images", part.to_json()) for part in parts))
    assert (summed.entered, summed.kept, summed.failed["timeout"]) == (3, 2, 1)


def test_ledgers_of_different_things_are_not_added() -> None:
    with pytest.raises(ValueError, match="images"):
        Ledger("records").add(Ledger("images"))
