"""Where sentences begin and end, and what of them tells which comes next."""

from obelics_pipeline.models.coherence_detector.sentences import WORDS, sentences_of, traits_of


def quoted(text: str) -> list[str]:
    return [text[sentence.begin : sentence.end].strip() for sentence in sentences_of(text)]


def test_a_text_is_cut_at_marks_before_a_capital_and_at_lines() -> None:
    assert quoted("He left. She stayed!\nMenu\n“Why?” It rained.") == [
        "He left.",
        "She stayed!",
        "Menu",
        "“Why?”",
        "It rained.",
    ]


def test_titles_and_initials_end_no_sentence() -> None:
    assert quoted("Mr. Brown met J. Smith. Then Dr. Who came.") == ["Mr. Brown met J. Smith.", "Then Dr. Who came."]


def test_what_has_no_word_is_no_sentence() -> None:
    assert quoted("* * *\n\n---\nA line") == ["A line"]
    assert sentences_of("") == []


def test_no_more_than_the_beginning_is_read() -> None:
    assert len(sentences_of("One two three four. " * WORDS)) == WORDS // 4


def test_traits_tell_words_ends_and_open_quotes() -> None:
    first, second, third, fourth = traits_of(sentences_of('He said: "I will go. Then I stay." 12 men\nCame.'))
    assert first == ["he", "said", "i", "will", "go", "^he", "^he said", "$.", "<", "L3", '"01']
    assert second[-1] == '"10'
    assert third[:2] == ["#", "men"] and third[-1] == '"00'
    assert fourth[:3] == ["came", "^came", "^came"]
