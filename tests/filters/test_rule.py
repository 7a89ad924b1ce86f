"""A threshold must apply where the config says, and nowhere else."""

import pytest

from obelics_pipeline.core.config import Bounds, Threshold
from obelics_pipeline.core.document import TEXT_ROLES, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import paragraph_score
from obelics_pipeline.filters.rule import ParagraphRules, build_rules


def judge(node: TextNode, thresholds: dict[str, Threshold], language: str = "en", everything: bool = False) -> TextNode:
    ParagraphRules(build_rules(thresholds, "paragraph"), language, segment=False).judge(node, everything)
    return node


def test_the_first_failing_rule_is_the_reason_and_ends_the_measuring() -> None:
    thresholds = {
        "special_character_ratio": Threshold(max=1),
        "word_count": Threshold(min=4),
        "stopword_ratio": Threshold(),
    }
    node = judge(TextNode("one two"), thresholds)
    assert node.reason == "word_count"
    assert node.scores == {"special_character_ratio": 1 / 7, "word_count": 2.0}


def test_everything_is_measured_when_asked_and_the_reason_is_the_same() -> None:
    thresholds = {"word_count": Threshold(min=4), "stopword_ratio": Threshold(min=0.9)}
    node = judge(TextNode("the two"), thresholds, everything=True)
    assert node.reason == "word_count"
    assert node.scores == {"word_count": 2.0, "stopword_ratio": 0.5}


@pytest.mark.parametrize(
    ("threshold", "dropped"),
    [(Threshold(min=2), {1}), (Threshold(max=2), {3}), (Threshold(below=2), {2, 3}), (Threshold(min=2, max=2), {1, 3})],
)
def test_both_bounds_are_kept_and_below_is_not(threshold: Threshold, dropped: set[int]) -> None:
    found = {n for n in (1, 2, 3) if judge(TextNode(" ".join(["word"] * n)), {"word_count": threshold}).reason}
    assert found == dropped


@pytest.mark.parametrize("role", TEXT_ROLES)
def test_the_end_marker_is_exempt_and_roles_are_obeyed(role: str) -> None:
    everywhere = judge(TextNode("x", role), {"word_count": Threshold(min=2)})
    headings = judge(TextNode("x", role), {"word_count": Threshold(min=2, roles=("heading",))})
    assert (everywhere.reason is None) == (role == "end_of_document")
    assert (headings.reason is None) == (role != "heading")


def test_bounds_by_language_replace_the_general_ones() -> None:
    threshold = Threshold(min=4, languages={"zh": Bounds(min=1), "th": None})
    assert judge(TextNode("one two"), {"word_count": threshold}, "en").reason == "word_count"
    assert judge(TextNode("one two"), {"word_count": threshold}, "zh").reason is None
    assert judge(TextNode(""), {"word_count": threshold}, "zh").reason == "word_count"
    assert judge(TextNode(""), {"word_count": threshold}, "th").scores == {}


def test_a_filter_without_a_list_drops_nothing() -> None:
    node = judge(TextNode("one two"), {"stopword_ratio": Threshold(min=0.9)}, "xx")
    assert node.reason is None
    assert node.scores == {}


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UserError, match=r"filters\.paragraph\.image_count: measures documents only"):
        build_rules({"image_count": Threshold()}, "paragraph")
    with pytest.raises(UserError, match=r"filters\.document\.word_count\.roles"):
        build_rules({"word_count": Threshold(roles=("heading",))}, "document")
    with pytest.raises(ValueError, match="unknown role slogan; valid roles: paragraph, headline"):
        Threshold(roles=("slogan",))


def test_one_paragraph_can_be_scored_by_name() -> None:
    assert paragraph_score("word_repetition_ratio", "a b a b", "en", {"n": 2}) == 2 / 3
    assert paragraph_score("spam_word_ratio", "irgend etwas", "de", {}) is None
