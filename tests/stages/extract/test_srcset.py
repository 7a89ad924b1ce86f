from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract.srcset import parse_srcset


def test_candidates_with_widths_densities_and_neither() -> None:
    assert parse_srcset("a.jpg 300w, b.jpg 2x,c.jpg") == [("a.jpg", 300.0), ("b.jpg", 1200.0), ("c.jpg", 600.0)]


def test_urls_may_hold_commas() -> None:
    assert parse_srcset("/w_300,h_200/a.jpg 300w, /b,c.jpg") == [("/w_300,h_200/a.jpg", 300.0), ("/b,c.jpg", 600.0)]


def test_broken_descriptors_cost_their_candidate() -> None:
    assert parse_srcset("a.jpg wide, b.jpg 5q, , ,c.jpg 1x extra") == [("c.jpg", 600.0)]


@given(st.text("a.jpg ,12wx\n", max_size=80))
def test_urls_are_pieces_of_the_value(value: str) -> None:
    assert all(c.url in value and " " not in c.url for c in parse_srcset(value))
