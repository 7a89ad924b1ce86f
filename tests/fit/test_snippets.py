import pytest

from obelics_pipeline.fit.snippets import SearchedText


@pytest.mark.parametrize(
    ("text", "snippet"),
    [
        ("It was, he said,\n“a long day”.", 'he said, "a long day"'),
        ("It was A LONG DAY indeed", "a long day indeed"),
        ("salt & pepper on the table", "salt &amp; pepper on the table"),
        ("ﬁne weather today", "fine weather today"),
        ("Read more\n about it", "Read more"),
        ("今日は雨です", "雨"),
        ("un cafe\u0301 noir", "caf\u00e9"),
    ],
)
def test_a_snippet_is_found_whatever_its_typography(text: str, snippet: str) -> None:
    assert SearchedText(text).has(snippet)


@pytest.mark.parametrize(
    ("text", "snippet"),
    [
        ("It was a day", "a long day indeed"),
        ("a nice day", "ice"),
        ("we search on", "Search"),
        ("read the more", "read more"),
        ("anything", ""),
        ("anything …", "…"),
        ("", "some long snippet"),
    ],
)
def test_what_is_not_there_is_not_found(text: str, snippet: str) -> None:
    assert not SearchedText(text).has(snippet)
