"""The kind of a document's page as a score, with which kinds are kept or dropped."""

import pytest

from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build
from obelics_pipeline.filters.registry import make
from obelics_pipeline.models.page_type import MODEL


def text(**general: object) -> Text:
    return Text("text", document=Document("", "", "", 0, 0, [TextNode("text")], general=general))


FORUM = text(page_type="forum", page_type_probability=0.8)


@pytest.mark.parametrize(
    ("kinds", "score"), [(None, 0.8), (["forum"], 0.8), (["article", "forum"], 0.8), (["article"], 0.0), ([], 0.0)]
)
def test_a_page_of_another_kind_than_those_named_has_0(kinds: list[str] | None, score: float) -> None:
    assert build("page_type_probability", {"kinds": kinds}).score(FORUM) == score


def test_where_no_kind_was_noted_there_is_no_score() -> None:
    for kinds in (None, ["article"]):
        measuring = build("page_type_probability", {"kinds": kinds})
        assert measuring.score(text()) is None
        assert measuring.score(Text("text")) is None


def test_an_unknown_kind_is_refused_and_the_valid_ones_are_named() -> None:
    with pytest.raises(UserError, match=r"filter page_type_probability: option kinds\.0: .*'documentation'.*'blog'"):
        make("page_type_probability", {"kinds": ["blog"]})


def test_scores_depend_on_the_model_so_another_one_measures_again() -> None:
    assert make("page_type_probability").files() == [str(MODEL)]  # type: ignore[attr-defined]
