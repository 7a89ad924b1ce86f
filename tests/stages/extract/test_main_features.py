from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract import main_features as module
from obelics_pipeline.stages.extract import main_features_pure
from obelics_pipeline.stages.extract.main_features import NAMES, main_features
from obelics_pipeline.stages.extract.marks import BITS
from obelics_pipeline.stages.extract.section_titles import BEGINNINGS
from obelics_pipeline.stages.extract.tags import CUSTOM, TEXT, tag_id
from obelics_pipeline.stages.extract.tree import (
    CHARS,
    COMMAS,
    END,
    ENDS,
    LINKED,
    MARKS,
    PARENT,
    STOPS,
    TAG,
    UPPERS,
    WIDE,
    WIDTH,
    WORDS,
    SimplifiedTree,
)
from tests.stages.extract.soups import soup
from tests.stages.extract.trees import row_of, tree_of
from tests.stages.extract.written_pages import article, forum, page, paragraph

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled features were not built")


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


def test_the_name_of_a_review_is_no_feature() -> None:
    beside = f"<div class=product><p>{paragraph(2)}</p></div><div class=product><p>{paragraph(3)}</p></div>"
    named, plain = (
        features(page(f"<div class='{name}'><p>{paragraph(1)}</p></div>{beside}"), "Part 1.")
        for name in ("product testimonial", "product")
    )
    assert named == plain


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


def assert_twins_agree(tree: SimplifiedTree) -> None:
    for said, defined in zip(main_features(tree), main_features_pure.main_features(tree), strict=True):
        assert (said.dtype, said.shape) == (defined.dtype, defined.shape)
        assert said.tobytes() == defined.tobytes()


ELEMENTS = "html body main article div p span h2 ul li table td aside footer figure blockquote pre".split()
KINDS = st.sampled_from([TEXT, TEXT, TEXT, tag_id("img"), CUSTOM, *map(tag_id, ELEMENTS)])
MEANINGS = st.sampled_from([0, 0, 0, *BITS.values(), sum(BITS.values())])
COUNTS = st.sampled_from([0, 0, 0, 1, 2, 30, 60, 61, 80, 100, 301, 5_000, (1 << 26) - 3])
SAID = st.one_of(
    st.sampled_from(["", "Related", "3 Comments", "» Read more", "İlgili", "and so on…", "and so on...", "..", "…."]),
    st.builds(
        "".join, st.tuples(st.sampled_from(["", "12. ", "\t"]), st.sampled_from(BEGINNINGS), st.text(max_size=2))
    ),
    st.text(max_size=70),
)


@st.composite
def made_trees(draw: st.DrawFn) -> SimplifiedTree:
    """A tree with any element in any other, several roots, and counts that no page has."""
    table: list[list[int]] = []
    around: list[int] = []
    for row in range(draw(st.integers(1, 30))):
        del around[draw(st.integers(0, len(around))) :]
        columns = [0] * WIDTH
        columns[TAG], columns[MARKS] = draw(KINDS), draw(MEANINGS)
        columns[PARENT] = around[-1] if around else -1
        if columns[TAG] == TEXT:
            for column in (CHARS, WORDS, COMMAS, STOPS, UPPERS, WIDE, ENDS):
                columns[column] = draw(COUNTS)
            columns[LINKED] = min(columns[CHARS], draw(COUNTS))
        table.append(columns)
        if columns[TAG] != TEXT or draw(st.integers(0, 9)) == 0:
            around.append(row)
        columns[END] = row + 1
        for above in around:
            table[above][END] = row + 1
    return tree_with(table, [draw(SAID) if columns[TAG] == TEXT else None for columns in table])


def tree_with(table: list[list[int]], values: list[str | None]) -> SimplifiedTree:
    return SimplifiedTree(np.array(table, np.int32).reshape(-1, WIDTH), values, {}, [])


def tree_of_texts(texts: list[str]) -> SimplifiedTree:
    """These texts in a div."""
    table = [[tag_id("div"), -1, len(texts) + 1] + [0] * (WIDTH - 3)]
    for row, text in enumerate(texts, 1):
        table.append([TEXT, 0, row + 1, 0, 0, len(text)] + [0] * (WIDTH - 6))
    return tree_with(table, [None, *texts])


@compiled
@given(made_trees())
def test_twins_agree_on_any_tree(tree: SimplifiedTree) -> None:
    assert_twins_agree(tree)


@compiled
@given(st.data())
def test_twins_agree_on_pages(data: st.DataObject) -> None:
    assert_twins_agree(tree_of(soup(lambda values: data.draw(st.sampled_from(values)), data.draw(st.integers(0, 60)))))


@compiled
@pytest.mark.parametrize("html", [page(article()), page(forum()), page(article() * 9 + forum(40)), "<div>" * 999 + "x"])
def test_twins_agree_on_written_pages(html: str) -> None:
    assert_twins_agree(tree_of(html))


@compiled
def test_twins_draw_the_same_lines() -> None:
    for length in range(310):
        tree = tree_of_texts(["x" * length, "y"])
        for linked in {0, length // 2, length}:
            tree.rows[1, LINKED] = linked
            assert_twins_agree(tree)


@compiled
def test_twins_find_names_that_say_nothing_at_the_same_share() -> None:
    for length in range(11):
        html = f"<div class=comments>{'x' * length}</div>{'y' * (10 - length)}"
        assert_twins_agree(tree_of(html))


@compiled
@pytest.mark.parametrize("name", ["html", "body", "div"])
def test_twins_take_the_names_of_the_same_elements(name: str) -> None:
    made = tree_of("<div><section class=comments>xx</section>yyyyyyyy</div>")
    rows = made.rows.copy()
    rows[rows[:, MARKS] > 0, TAG] = tag_id(name)
    tree = SimplifiedTree(rows, made.values, {}, [])
    assert_twins_agree(tree)
    assert main_features(tree)[1][0, NAMES.index("around_comment")] == (name == "div")


@compiled
@pytest.mark.parametrize("between", ["", "<p>z</p>", "<div><div>z</div></div>"])
def test_twins_see_the_best_container_end_at_the_same_text(between: str) -> None:
    assert_twins_agree(tree_of(f"<div>u<div>v<div>{paragraph(1)}</div>{between}w</div>x</div>y"))


@compiled
def test_twins_know_the_same_section_titles() -> None:
    forms = [
        before + form(beginning) + after
        for beginning, form, before, after in product(
            BEGINNINGS, (str, str.upper, str.title, lambda text: text[:-1]), ("", "3 ", "» ", "x"), ("", "s", " 2")
        )
    ]
    tree = tree_of_texts([*forms, "", "İ", "ΑΣ", "\u212aategorie", "Related" + 54 * "x", "Related" + 53 * "x"])
    assert main_features(tree)[1][:, NAMES.index("section_title")].sum() > len(BEGINNINGS)
    assert_twins_agree(tree)


@compiled
@given(st.lists(SAID, max_size=8))
@example(["Related"] + ["x"] * 120)
def test_twins_read_the_same_words(texts: list[str]) -> None:
    assert_twins_agree(tree_of_texts(texts))


@compiled
@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        (TAG, -1, "no such tag"),
        (TAG, CUSTOM + 1, "no such tag"),
        (PARENT, 1, "its parent does not come before it"),
        (PARENT, 1_000, "its parent does not come before it"),
        (END, 1, "its end is not behind it"),
        (END, -1, "its end is not behind it"),
        (END, 4, "its end is not behind it"),
        (CHARS, -1, "a count is out of range"),
        (COMMAS, 2**31 - 1, "a count is out of range"),
        (LINKED, 2, "more characters in links than there are"),
    ],
)
def test_rows_that_are_no_tree_are_refused(column: int, value: int, complaint: str) -> None:
    tree = tree_of_texts(["x", "y"])
    tree.rows[1, column] = value
    with pytest.raises(ValueError, match=f"row 1 is of no tree: {complaint}"):
        main_features(tree)


@compiled
def test_values_that_are_not_those_of_the_rows_are_refused() -> None:
    rows = tree_of_texts(["x", "y"]).rows
    with pytest.raises(ValueError, match="expected 3 values, found 1"):
        main_features(SimplifiedTree(rows, [None], {}, []))
    with pytest.raises(ValueError, match="row 2 is of no tree: a text without its words"):
        main_features(SimplifiedTree(rows, [None, "x", None], {}, []))
    with pytest.raises(ValueError, match="expected rows of 14 int32, found 84 bytes"):
        main_features(SimplifiedTree(rows[:, :7], [None, "x", "y"], {}, []))


@compiled
@given(st.lists(st.lists(st.integers(-2, 9) | st.integers(-(2**31), 2**31 - 1), min_size=WIDTH, max_size=WIDTH)))
def test_any_numbers_are_refused_or_read(table: list[list[int]]) -> None:
    try:
        texts, found = main_features(tree_with(table, ["x"] * len(table)))
    except ValueError:
        return
    assert len(texts) == len(found) <= len(table)


def test_without_the_compiled_features_numpy_finds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    monkeypatch.setattr(module, "_twin", module._set_up())
    assert module._twin is None
    assert_twins_agree(tree_of(page(article())))
