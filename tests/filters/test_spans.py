"""The ranges of a score must be within the text, in order, and leave nothing outside that made the score."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.filters import Text, build, statistics
from obelics_pipeline.filters.characters import SPECIAL
from obelics_pipeline.filters.grams import repeated_words
from obelics_pipeline.filters.kenlm_filter import placed
from obelics_pipeline.filters.kenlm_text import normalized, places
from obelics_pipeline.filters.lexical_cohesion import _sentences
from obelics_pipeline.filters.registry import BUILT_IN
from obelics_pipeline.filters.segment import is_unspaced
from obelics_pipeline.filters.spans import MOST, Span, capped, joined, placed_words
from tests.models.arpa import write_models
from tests.models.farm_detector.small import detector

WITHOUT = {
    "word_count",
    "language_score",
    "quality_score",
    "image_count",
    "images_per_thousand_words",
    "main_content_confidence",
}
WITHOUT |= {"chat_score", "wording_score", "page_type_probability"}
OF_KENLM = {"perplexity", "worse_than_unigram_ratio"}
LIST = ["the", "boat", "中文", "القارب", "i̇"]

odd = st.characters(exclude_categories=())
words = st.sampled_from(
    ["the", "The", "boat", "boats,", "İ", "中文文本没有空格", "。", "القارب", "—", "…", "ﬁn", "12", "?!"]
)
spaces = st.sampled_from([" ", " ", "\n", "\n\n", "\t", "\u00a0", "", ". ", "\ud800", "\u0085", "\U0001f600"])
written = st.lists(st.tuples(words, spaces), max_size=80).map(lambda pairs: "".join(map("".join, pairs)))
texts = st.one_of(written, written, st.text(odd), st.builds(lambda text, n: text * n, written, st.integers(2, 20)))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "list.txt").write_text("\n".join(LIST), "utf-8")
    detector().save(folder / "small.npz")
    return folder


@pytest.fixture(scope="module")
def made(files: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Every filter that tells spans, with options under which the language "xx" has a score."""
    paths = {"paths": {"xx": str(files / "list.txt")}}
    options: dict[str, dict[str, Any]] = {
        "stopword_ratio": paths,
        "flagged_word_ratio": paths,
        "spam_word_ratio": paths,
        "common_word_ratio": paths,
        "farm_score": {"paths": {"xx": str(files / "small.npz")}},
        "word_repetition_ratio": {"n": 2},
        "character_repetition_ratio": {"n": 3},
        "distinct_word_ratio": {"window": 6},
        "punctuation_ratio": {"min_words": 3, "marks": ",.!?。^-]\\'a"},
    }
    others = {name: build(name, options.get(name)) for name in BUILT_IN if name not in WITHOUT | OF_KENLM}
    return others | (request.getfixturevalue("of_kenlm") if all(map(find_spec, ("kenlm", "sentencepiece"))) else {})


@pytest.fixture(scope="module")
def of_kenlm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = str(write_models(tmp_path_factory.mktemp("models"), "xx"))
    return {name: build(name, {"folder": folder}) for name in OF_KENLM}


def outside(text: str, spans: list[Span]) -> list[str]:
    """What is between the spans."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return [text[begin:end] for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def words_outside(text: Text, spans: list[Span]) -> list[str | None]:
    """The words with None in place of each that is within a span."""
    found = list(placed_words(text))
    return [None if any(b <= first and last <= e for b, e in spans) else word for word, (first, last) in found]


def shown(text: Text, spans: list[Span]) -> list[str]:
    return [text.text[begin:end] for begin, end in spans]


def test_every_filter_whose_score_has_a_place_in_the_text_tells_it(made: dict[str, Any]) -> None:
    assert all(hasattr(measuring, "spans") for measuring in made.values())
    assert not [name for name in WITHOUT if hasattr(BUILT_IN[name], "spans")]


@given(texts, st.booleans(), st.sampled_from(["xx", "yy", None]))
def test_spans_are_within_the_text_rising_and_apart(
    made: dict[str, Any], text: str, segment: bool, language: str | None
) -> None:
    for name, measuring in made.items():
        spans = measuring.spans(Text(text, language, segment=segment))
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges), name
        assert all(begin < end for begin, end in spans), name
        assert len(spans) <= MOST
        assert not edges or (edges[0] >= 0 and edges[-1] <= len(text)), name
        if measuring.score(Text(text, language, segment=segment)) is None:
            assert not spans, name


@given(texts, st.booleans())
def test_placed_words_are_the_words_of_the_text_where_they_stand(text: str, segment: bool) -> None:
    measured = Text(text, segment=segment)
    found = list(placed_words(measured))
    assert [word for word, _ in found] == measured.words
    for word, (begin, end) in found:
        assert text[begin:end].lower().replace("\ud800", "\ufffd").replace("σ", "ς") in (
            word.replace("\ud800", "\ufffd").replace("σ", "ς"),
            "i̇" if word == "i" else None,  # ICU may cut what one character was lowered to
        )


@given(texts, st.booleans())
def test_outside_the_spans_of_a_list_no_word_is_in_it_and_inside_all_are(
    made: dict[str, Any], text: str, segment: bool
) -> None:
    for name in ("stopword_ratio", "flagged_word_ratio", "spam_word_ratio", "common_word_ratio"):
        measured = Text(text, "xx", segment=segment)
        spans = made[name].spans(measured)
        assert not set(LIST) & set(words_outside(measured, spans))
        assert len(spans) == min(MOST, sum(word in LIST for word in measured.words))


@given(texts, st.booleans(), st.integers(1, 9))
def test_outside_the_spans_of_word_repetition_no_n_words_in_a_row_occur_again(text: str, segment: bool, n: int) -> None:
    measured, measuring = Text(text, segment=segment), build("word_repetition_ratio", {"n": n})
    spans = measuring.spans(measured)  # type: ignore[attr-defined]
    left = words_outside(measured, spans)
    grams = [tuple(left[i : i + n]) for i in range(len(left) - n + 1)]
    every = Counter(tuple(measured.words[i : i + n]) for i in range(len(left) - n + 1))
    assert not [gram for gram in grams if None not in gram and every[gram] > 1]
    assert bool(spans) == ((measuring.score(measured) or 0) > 0)
    covered = [place for place, word in enumerate(left) if word is None]
    repeated = [i for i in range(len(left) - n + 1) if every[tuple(measured.words[i : i + n])] > 1]
    assert covered == sorted({i + k for i in repeated for k in range(n)})


@given(texts, st.integers(1, 12))
def test_the_spans_of_character_repetition_are_what_the_most_frequent_n_grams_cover(text: str, n: int) -> None:
    measuring = build("character_repetition_ratio", {"n": n})
    grams = [text[i : i + n] for i in range(len(text) - n + 1)]
    frequency = Counter(grams)  # of equally frequent ones, the first met stays first
    most = [gram for gram, count in frequency.most_common(int(len(frequency) ** 0.5)) if count > 1]
    covered = sorted({i + k for i, gram in enumerate(grams) if gram in most for k in range(n)})
    spans = measuring.spans(Text(text))  # type: ignore[attr-defined]
    assert [i for begin, end in spans for i in range(begin, end)] == covered
    assert sum(map(frequency.__getitem__, most)) / max(1, len(grams)) == measuring.score(Text(text))


@pytest.mark.parametrize("n", [1, 2, 7, 64, 100])
def test_long_n_grams_of_many_different_units_are_told_apart(n: int) -> None:
    text = "".join(chr(0x4E00 + i * i % 20011) for i in range(3000))  # too many kinds for a pair of pairs in 63 bits
    spans = build("character_repetition_ratio", {"n": n}).spans(Text(text + text[5:300]))  # type: ignore[attr-defined]
    grams = [(text + text[5:300])[i : i + n] for i in range(3296 - n)]
    most = [g for g, c in Counter(grams).most_common(int(len(set(grams)) ** 0.5)) if c > 1]
    covered = sorted({i + k for i, gram in enumerate(grams) if gram in set(most) for k in range(n)})
    assert [i for begin, end in spans for i in range(begin, end)] == covered


def test_numbers_of_n_grams_do_not_run_over() -> None:
    kinds = [f"w{n}" for n in range(2**17)]  # a pair of pairs has 68 bits, of which four would be lost
    alike = [5, 9, 9, 7], [5 + 2**13, 9, 9, 7]  # they would differ in those alone
    words = [*kinds, kinds[-1], *(kinds[n] for four in alike for n in four)]
    assert repeated_words(words, 4) == []
    assert repeated_words(words, 3) == [(2**17 + 2, 2**17 + 5), (2**17 + 6, 2**17 + 9)]


@given(texts)
@example("?")
def test_special_characters_and_marks_are_all_inside(made: dict[str, Any], text: str) -> None:
    spans = made["special_character_ratio"].spans(Text(text))
    assert SPECIAL.isdisjoint("".join(outside(text, spans)))
    assert SPECIAL.issuperset("".join(shown(Text(text), spans)))
    measuring = made["punctuation_ratio"]
    spans = measuring.spans(Text(text))
    marks, tokens = statistics.count_punctuation(text, measuring.marks)
    assert sum(end - begin for begin, end in spans) == (marks if tokens >= measuring.min_words else 0)


@given(texts, st.booleans())
def test_outside_the_spans_the_words_of_every_window_are_distinct(
    made: dict[str, Any], text: str, segment: bool
) -> None:
    measured, measuring = Text(text, segment=segment), made["distinct_word_ratio"]
    spans = measuring.spans(measured)
    if measuring.score(measured) is None:
        return
    left = words_outside(measured, spans)
    for first in range(len(left) - measuring.window + 1):
        seen = [word for word in left[first : first + measuring.window] if word is not None]
        assert len(seen) == len(set(seen))
    assert (measuring.score(measured) == 1.0) == (not spans)


@given(texts, st.booleans())
def test_outside_the_spans_no_sentence_has_a_long_word_of_one_of_the_three_before_it(
    made: dict[str, Any], text: str, segment: bool
) -> None:
    measured, measuring = Text(text, segment=segment), made["lexical_cohesion"]
    spans = measuring.spans(measured)
    if measuring.score(measured) is None:
        return
    assert (measuring.score(measured) == 0.0) == (not spans)
    said: list[set[str]] = []
    for begin, sentence in _sentences(text):
        moved = [(first - begin, last - begin) for first, last in spans if begin <= first < begin + len(sentence)]
        part = Text(sentence, segment=segment)
        long = {word for word in part.words if len(word) >= 4}
        left = {word for word in words_outside(part, moved) if word is not None and len(word) >= 4}
        assert not left & set().union(*said[-3:])
        said += [long] if long else []


@given(texts)
def test_places_of_the_normalized_text_are_those_of_its_characters(text: str) -> None:
    form, place = normalized(text), places(text)
    assert len(form) == len(place)
    assert place == sorted(place)
    assert all(form[i] == text[at] for i, at in enumerate(place) if form[i].isalpha())


@given(st.lists(st.sampled_from(["a", "b", "z", "…", "—", "\n", "ﬁ½", " ", "日"]), max_size=60).map(" ".join))
@example("a b z " + "a b " * 7 + "a z a")  # of twenty pieces the later unknown one costs more than the first
def test_there_is_a_span_for_each_piece_that_is_counted(of_kenlm: dict[str, Any], text: str) -> None:
    measured, measuring = Text(text, "xx"), of_kenlm["worse_than_unigram_ratio"]
    # A piece of this model is a word, or several that are unknown: none touches the next.
    pieces = len(measuring.model_of(measured)._read(normalized(text))[0])
    spans = measuring.spans(measured)
    assert len(spans) == round(measuring.score(measured) * pieces)
    assert not any(part != part.strip() for part in shown(measured, spans))
    rarest = of_kenlm["perplexity"].spans(measured)
    assert len(rarest) == -(-pieces // 10)
    assert rarest == sorted(rarest)


def test_white_space_on_either_side_of_a_piece_is_not_told() -> None:
    assert placed(" a b \nc", [(0, 2), (2, 4), (4, 4)]) == [(1, 2), (3, 4)]


def test_of_a_model_of_words_the_very_words_are_told(of_kenlm: dict[str, Any]) -> None:
    text = Text(" a\u00a0b —\na  z b b a", "xx")  # normalized to a b - a z b b a: the line end is deleted
    assert normalized(text.text) == "a\u0020b  - a  z b b a"
    # Unknown after b and after a; b after b, a after b. A word after an unknown one costs what it does alone.
    assert of_kenlm["worse_than_unigram_ratio"].spans(text) == [(5, 6), (10, 11), (14, 15), (16, 17)]
    # One of eight pieces, the costliest: it is unknown, and follows a.
    assert shown(text, of_kenlm["perplexity"].spans(text)) == ["z"]


@pytest.mark.parametrize(
    ("name", "language", "text", "expected"),
    [
        ("stopword_ratio", "en", "The boat is OLD, isn't it?", ["The", "is", "it"]),
        ("stopword_ratio", "zh", "我们没有船", ["我们"]),
        ("stopword_ratio", "ar", "«في» البحر، ثم على الأرض.", ["في", "ثم", "على"]),
        ("special_character_ratio", "en", "Ab 1, c\n", [" 1, ", "\n"]),
        ("punctuation_ratio", "en", "Well... isn't it, 3.5?", ["...", ",", ".", "?"]),
        ("character_repetition_ratio", "en", "abcdefghij, 0123456789; abcdefghij", ["abcdefghij", "abcdefghij"]),
    ],
)
def test_known_spans(name: str, language: str, text: str, expected: list[str]) -> None:
    measured = Text(text, language, segment=is_unspaced(text))
    assert shown(measured, build(name).spans(measured)) == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Buy the «old boat» now, or buy: The old\nboat later.", ["Buy the «old boat", "buy: The old\nboat"]),
        ("中文文本没有空格，是中文文本没有空格。", ["中文文本没有空格", "中文文本没有空格"]),
        ("في البحر الكبير قارب. ثم في البحر الكبير سمكة", ["في البحر الكبير", "في البحر الكبير"]),
    ],
)
def test_each_time_that_words_are_repeated_is_told(text: str, expected: list[str]) -> None:
    measured = Text(text, segment=True)
    assert shown(measured, build("word_repetition_ratio", {"n": 3}).spans(measured)) == expected  # type: ignore[attr-defined]


def test_the_spans_of_the_farm_score_are_the_words_and_the_stretch_of_its_reasons(made: dict[str, Any]) -> None:
    text = Text(" ".join(f"The old boat of harbour {name}, new house." for name in "abcdefghijklm"), "xx")
    spans = shown(text, made["farm_score"].spans(text))
    rows = list(made["farm_score"].reasons(text))
    for what, _, quote in rows:
        if what == "word that does not fit":
            assert any(quote.split(", in “")[0] in span for span in spans)
        elif what == "worst stretch":
            assert any(quote.strip("“”") in span for span in spans)
    assert not made["farm_score"].spans(Text("boat", "xx"))


def test_spans_that_touch_or_overlap_are_joined() -> None:
    assert list(joined([(0, 2), (1, 5), (2, 3), (5, 6), (8, 9)])) == [(0, 6), (8, 9)]
    assert not list(joined([]))


def test_there_are_no_more_spans_than_anybody_reads() -> None:
    text = Text("the boat " * (MOST + 1), "en")
    assert capped((i, i + 1) for i in range(MOST + 5)) == [(i, i + 1) for i in range(MOST)]
    assert build("stopword_ratio").spans(text) == [(9 * i, 9 * i + 3) for i in range(MOST)]  # type: ignore[attr-defined]
