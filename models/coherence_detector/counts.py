"""What is counted of the sentences of a text, in whole numbers: forms, words that return, and phrases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, combinations, pairwise
from typing import NamedTuple

from obelics_pipeline.models.coherence_detector.sentences import Sentence, is_word

NEAR = (1, 2, 4, 8)  # sentences
GRAMMAR = tuple(
    """
    the a an of to and in that is was for it with as on be at by this had not are but from or have he his i you she her
    they we which one were all their there been would so if no when what my me him who will more them said up out do
    can could than then now only some into your has its about over after did our us am such very may also just like any
    these other
    """.split()
)
_GRAMMAR = frozenset(GRAMMAR)
_SHORTEST = 4  # letters of a word that carries meaning
_SHORT = 6  # tokens
_SUBJECT = 3  # sentences
_FRAME_MARKS = frozenset("|/»›·•-:;")  # between entries of menus


class Counts(NamedTuple):
    """Counts of at least one sentence; `_reading.c` has them in the same order."""

    sentences: int
    tokens: int
    squares: int  # the sum of the squares of the sentences' lengths in tokens
    steps: int  # the sum of the differences of the lengths of neighbours
    short: int
    titles: int  # sentences most of whose words begin with a capital
    with_numbers: int
    frame_marks: int
    with_quotes: int
    quotes_half: int  # sentences with half a quote
    quotes_change: int  # sentences that with the one before have half a quote
    lines: int
    lines_open: int  # at whose end a quote is open
    brackets_open: int  # sentences with more of one bracket than of the other
    meant: int  # words that carry meaning, of each sentence once
    different: int  # of them
    once: int  # in one sentence alone
    first: int  # sentences with the most frequent of these words, the second and the third
    second: int
    third: int
    first_name: int  # the same of names that do not begin a sentence
    second_name: int
    with_names: int
    pairs: int  # of sentences with the same word, where it is not the text's subject
    within_1: int  # those that are so near each other: `NEAR`
    within_2: int
    within_4: int
    within_8: int
    words: int
    pairs_again: int  # words in a row that were there before
    fours_again: int
    beginnings_again: int  # two tokens


def count(sentences: Sequence[Sentence]) -> Counts:
    """Those of at least one sentence."""
    return Counts(*_of_form(sentences), *_of_words(sentences), *_of_phrases(sentences))


def _of_form(sentences: Sequence[Sentence]) -> Iterable[int]:
    lengths = [len(s.tokens) for s in sentences]
    quotes = [s.tokens.count('"') for s in sentences]
    lines = _quotes_of_lines(sentences, quotes)
    yield len(sentences)
    yield sum(lengths)
    yield sum(length * length for length in lengths)
    yield sum(abs(after - before) for before, after in pairwise(lengths))
    yield sum(length < _SHORT for length in lengths)
    yield sum(_is_title(s.tokens) for s in sentences)
    yield sum(any(token[0].isdigit() for token in s.tokens) for s in sentences)
    yield sum(token in _FRAME_MARKS for s in sentences for token in s.tokens)
    yield sum(map(bool, quotes))
    yield sum(number % 2 for number in quotes)
    yield sum((before + after) % 2 for before, after in pairwise(quotes))
    yield len(lines)
    yield sum(number % 2 for number in lines)
    yield sum(s.tokens.count("(") != s.tokens.count(")") for s in sentences)


def _quotes_of_lines(sentences: Sequence[Sentence], quotes: Sequence[int]) -> Sequence[int]:
    lines: list[int] = []
    for sentence, number in zip(sentences, quotes, strict=True):
        if sentence.begins_line or not lines:
            lines.append(0)
        lines[-1] += number
    return lines


def _of_words(sentences: Sequence[Sentence]) -> Iterable[int]:
    meant = [{word for token in s.tokens if _is_meant(word := token.lower())} for s in sentences]
    named = [{token for token in s.tokens[1:] if _is_name(token)} for s in sentences]
    often, names = Counter(chain.from_iterable(meant)), Counter(chain.from_iterable(named))
    yield sum(map(len, meant))
    yield len(often)
    yield sum(times == 1 for times in often.values())
    yield from _most(often, 3)
    yield from _most(names, 2)
    yield sum(map(bool, named))
    yield from _of_distances(meant)


def _of_distances(meant: Sequence[set[str]]) -> Iterable[int]:
    """How far from each other the sentences are that have a word."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, some in enumerate(meant):
        for word in some:
            places[word].append(place)
    most = max(_SUBJECT, len(meant) // 4)  # a word in more sentences than these is the text's subject
    distances = Counter(
        after - before for at in places.values() if len(at) <= most for before, after in combinations(at, 2)
    )
    yield distances.total()
    for near in NEAR:
        yield sum(distances[distance] for distance in range(1, near + 1))


def _of_phrases(sentences: Sequence[Sentence]) -> Iterable[int]:
    lower = [[token.lower() for token in s.tokens] for s in sentences]
    words = [token for tokens in lower for token in tokens if is_word(token)]
    yield len(words)
    for size in (2, 4):
        yield _again(Counter(zip(*(words[begin:] for begin in range(size)), strict=False)))
    yield _again(Counter(tuple(tokens[:2]) for tokens in lower))


def _most(counts: Counter[str], places: int) -> list[int]:
    """How often the most frequent ones are there."""
    return [*sorted(counts.values(), reverse=True)[:places], 0, 0, 0][:places]


def _again(counts: Counter[tuple[str, ...]]) -> int:
    return counts.total() - len(counts)


def _is_meant(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isalpha() and word not in _GRAMMAR


def _is_name(token: str) -> bool:
    return token[0].isupper() and len(token) > 2 and token.lower() not in _GRAMMAR


def _is_title(tokens: Sequence[str]) -> bool:
    words = [token for token in tokens if token[0].isalpha()]
    return len(tokens) > 2 and 5 * sum(word[0].isupper() for word in words) > 3 * len(words)
