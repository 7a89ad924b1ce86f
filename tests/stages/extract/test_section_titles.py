import pytest

from obelics_pipeline.stages.extract.section_titles import LONGEST, is_section_title


@pytest.mark.parametrize(
    "text",
    ["Related articles", "3 Comments", "RELATED", "» Read more", "Comment", "Share:", "Weitere Artikel", "関連記事",
     "Похожие статьи", "Lire aussi :", "• More from the harbour"],
)  # fmt: skip
def test_titles_of_what_is_no_content(text: str) -> None:
    assert is_section_title(text)


@pytest.mark.parametrize(
    "text", ["", " ", "3", "Method", "Commentary on Kant", "Sharecropping", "More hours of light", "The related work"]
)
def test_titles_of_content(text: str) -> None:
    assert not is_section_title(text)


def test_a_sentence_that_begins_like_one_is_none() -> None:
    assert is_section_title("Related" + "x" * (LONGEST - 7))
    assert not is_section_title("Related" + "x" * (LONGEST - 6))
