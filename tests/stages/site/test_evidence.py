"""Sums of evidence do not depend on the order in which documents come, nor on how they are dealt to units."""

from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.extract.links import LinkCounts
from obelics_pipeline.stages.site.evidence import EVIDENCE, POINTS, SCALE, WEIGHT, Seen, Sums, site_key, weights_of
from obelics_pipeline.stages.site.total import total

KEYS = [key for name in ("a.example", "b.example", "c.example") if (key := site_key(name)) is not None]
count = st.integers(0, 1000)
seen = st.builds(
    Seen,
    language=st.sampled_from(["en", "de", ""]),
    documents=st.integers(0, 1),
    score=st.none() | st.floats(0, 1),
    near_duplicate=st.booleans(),
    paragraphs=count,
    templates=count,
    links=st.builds(LinkCounts, count, count, count),
    day=st.none() | st.integers(700_000, 740_000),
)
documents = st.lists(st.tuples(st.sampled_from(KEYS), seen), max_size=30)


def totals(units: list[list[tuple[bytes, Seen]]]) -> list[dict[str, object]]:
    """Those of one bucket, of each site once."""
    tables = []
    for number, unit in enumerate(units):
        sums = Sums()
        for key, one in unit:
            sums.add(key, one)
        tables.append(sums.table(f"u{number}", 1))
    rows = pa.concat_tables([EVIDENCE.empty_table(), *tables]).drop_columns(["bucket"])
    found = total(rows, "0").tables["data"].drop_columns(["partition"]).to_pylist()
    return [row for i, row in enumerate(sorted(found, key=str)) if i == 0 or row != sorted(found, key=str)[i - 1]]


@given(documents, st.randoms(use_true_random=False), st.integers(1, 6))
def test_any_order_and_any_division_give_the_same_sums(
    made: list[tuple[bytes, Seen]], dice: Random, units: int
) -> None:
    whole = totals([made])
    shuffled = list(made)
    dice.shuffle(shuffled)
    assert totals([shuffled[i::units] for i in range(units)]) == whole
    assert len(whole) == len({key for key, _ in made})


@given(documents)
def test_a_units_rows_are_as_many_as_its_sites_and_languages(made: list[tuple[bytes, Seen]]) -> None:
    sums = Sums()
    for key, one in made * 3:
        sums.add(key, one)
    assert sums.table("u", 7).num_rows == len({(key, one.language) for key, one in made})


def test_a_hundred_million_scores_fit() -> None:
    assert 10**8 * SCALE**2 < 2**63


@given(st.floats(0, 1))
def test_a_score_is_dealt_to_the_points_beside_it_and_is_their_mean(score: float) -> None:
    dealt = dict(weights_of(score))
    assert sum(dealt.values()) == WEIGHT
    assert set(dealt) <= set(range(POINTS))
    assert sum(point * weight for point, weight in dealt.items()) == round(score * SCALE)


@pytest.mark.parametrize("score", [-0.1, 1.1, 312.0, float("nan"), float("inf")])
def test_a_score_that_is_no_probability_is_refused(score: float) -> None:
    with pytest.raises(UserError, match=r"site\.score: .* is not from 0 to 1"):
        list(weights_of(score))
