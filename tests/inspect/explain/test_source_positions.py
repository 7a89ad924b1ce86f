"""Texts are found where they stand in the source, in their order, and no source takes for ever."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.inspect.explain.source_positions import image_position, text_positions

SOURCE = """<html><head><title>The ferry returns to the harbour</title>
<script>var text = "The ferry returns to the harbour";</script></head><body>
<nav>Home</nav><!-- <p>Ten people waited on the café's quay</p> -->

<p>The ferry <b>returns to</b> the harbour</p><p>Ten people waited&nbsp;on the caf&eacute;'s quay</p><p>Home</p>
<p>The ferry returns to the harbour</p>"""


def test_a_text_is_found_behind_the_one_before_it_and_not_in_scripts_and_comments() -> None:
    texts = ["Ten people waited on the café's quay", "The ferry returns to the harbour"]
    places = text_positions(SOURCE, texts)
    assert [SOURCE[place:][:9] for place in places if place is not None] == ["Ten peopl", "The ferry"]
    assert places[1] == SOURCE.rindex("The ferry")


def test_a_heading_is_not_taken_for_the_title_of_the_page() -> None:
    source = "<title>Three of four</title><script>1</script><h1>Three of four</h1>"
    assert text_positions(source, ["Three of four"]) == [source.rindex("Three")]


def test_a_short_text_is_found_between_its_neighbours() -> None:
    texts = ["Ten people waited on the café's quay", "Home", "The ferry returns to the harbour"]
    assert text_positions(SOURCE, texts)[1] == SOURCE.rindex("Home")


def test_what_is_not_there_has_no_place() -> None:
    assert text_positions(SOURCE, ["words that nobody wrote", "", "nor this"]) == [None, None, None]


def test_an_address_is_found_as_it_was_written() -> None:
    source = '<link href="/a.png"><img src="/b?x=1&amp;y=2"><img src="/a.png">'
    assert image_position(source, "/a.png", 20) == source.rindex("/a.png")
    assert image_position(source, "/b?x=1&y=2", 0) == source.index("/b?")
    assert image_position(source, "/b?x=1&y=2", len(source)) == source.index("/b?")
    assert image_position(source, "/c.png", 0) is None


def test_hostile_sources_are_read_in_one_pass() -> None:
    for piece in ("<a", "<!--", "<script>", "<script", "&amp", "</script ", "<title>", "&" + "x" * 40):
        text_positions(piece * 100_000, ["a b c", "d"])


@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=200))
def test_a_place_is_in_the_source(texts: list[str], source: str) -> None:
    for place in text_positions(source + " ".join(texts), texts):
        assert place is None or 0 <= place < len(source) + sum(map(len, texts)) + len(texts)
