import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.extract.main_features import NAMES, main_features
from obelics_pipeline.extract.tags import TEXT
from obelics_pipeline.extract.tree import TAG
from tests.extract.soups import soup
from tests.extract.trees import row_of, tree_of
from tests.extract.written_pages import article, page


def features(html: str, text: str) -> dict[str, float]:
    """Those of a text of a page."""
    tree = tree_of(html)
    texts, table = main_features(tree)
    return dict(zip(NAMES, table[texts.tolist().index(row_of(tree, text))].tolist(), strict=True))


@given(st.data())
def test_every_text_outside_the_frame_has_finite_features(data: st.DataObject) -> None:
    tree = tree_of(soup(lambda values: data.draw(st.sampled_from(values)), data.draw(st.integers(0, 40))))
    texts, table = main_features(tree)
    assert table.shape == (len(texts), len(NAMES))
    assert np.isfinite(table).all()
    assert (tree.rows[texts, TAG] == TEXT).all()
    assert sorted(set(texts.tolist())) == texts.tolist()


def test_a_page_without_text_has_none() -> None:
    texts, table = main_features(tree_of("<footer>x</footer><img src=/x.jpg>"))
    assert texts.tolist() == []
    assert table.shape == (0, len(NAMES))


def test_what_a_text_says() -> None:
    found = features("<p>One, two <a href=/x>three</a>.</p>", "One")
    assert found["characters"] == len("One,twothree.")
    assert found["link"] == pytest.approx(5 / 13)
    assert found["words"] == 3
    assert found["sentence"] == 1
    assert found["stops"] == pytest.approx(1 / 13)


def test_a_character_of_a_script_without_spaces_weighs_more() -> None:
    assert features("<p>日本語</p>", "日")["characters"] == 9


def test_titles_of_other_sections_are_seen_from_below() -> None:
    html = "<p>first</p><h3>Related articles</h3><p>second</p><p>third</p>"
    assert features(html, "Related")["section_title"] == 1
    assert [features(html, text)["since_section_title"] for text in ("first", "Rel", "second", "third")] == [
        99,
        0,
        1,
        2,
    ]


def test_names_count_but_those_around_nearly_all_text() -> None:
    small = "<div class=sidebar><p>small</p></div>"
    html = f"<div class=comments>{article()}</div>{small}"
    assert features(html, "Part 3")["around_comment"] == 0
    assert features(html, "small")["around_side"] == 1
    assert features(html, "Part 3")["in_article"] == 1
    assert features(html, "small")["in_article"] == 0


def test_shares_of_the_elements_around() -> None:
    html = "<div><p>aaaa</p><p><a href=/>bb</a></p></div><div>cccc</div>"
    assert features(html, "aaaa")["share_0"] == pytest.approx(0.4)
    assert features(html, "aaaa")["share_1"] == pytest.approx(0.6)
    assert features(html, "aaaa")["links_1"] == pytest.approx(2 / 6)
    assert features(html, "aaaa")["alike_0"] == 2


def test_neighbours_and_places() -> None:
    html = "<p><a href=/>menu</a></p><p>text</p><p>half <a href=/>link</a></p>"
    found = features(html, "text")
    assert (found["link_-2"], found["link_-1"], found["link_+1"], found["link_+2"]) == (0, 1, 0.5, 0)
    assert found["before"] == pytest.approx(4 / 16)
    assert found["from_end"] == 2


def test_the_best_container_is_the_one_of_the_article() -> None:
    html = page(article())
    assert features(html, "Part 3")["best_level"] == 0
    assert features(html, "Teaser")["best_level"] > 0
