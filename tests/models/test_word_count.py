"""Words are what `str.split` parts, whatever the white space."""

from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.models.word_count import count_words


@given(st.text(alphabet=" \n\x1c\x85\u00a0\u2028\u3000\u200ba.\u20ac\U00020000"))
@example("")
@example(" a  b\n")
def test_words_are_counted_as_they_are_split(text: str) -> None:
    assert count_words(text) == len(text.split())
