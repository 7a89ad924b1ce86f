"""The numbers of the evidence in words that need no manual."""

from __future__ import annotations

import re

_HEADS = {
    "replaced": "words that do not fit",
    "junction": "places where a word does not follow the one before",
    "generated": "what sounds like generated text",
}
_OF_A_HEAD = {
    r"mean": "{head}: how likely on average",
    r"log_odds": "{head}: log odds on average",
    r"over_(?P<n>[\d.]+)": "{head}: share of tokens where that is likelier than {n}",
    r"quantile_(?P<n>[\d.]+)": "{head}: log odds that a share of {n} of the tokens is below",
    r"highest_(?P<n>\d+)": "{head}: how likely in the worst {n} tokens",
    r"lowest_(?P<n>\d+)": "{head}: how likely in the best {n} tokens",
    r"at_begins": "sentences that do not follow the one before: how likely on average",
    r"within": "{head}, within sentences: how likely on average",
    r"within_highest": "{head}, within sentences: how likely in the worst 32 words",
    r"words": "{head}: how likely on average, of words alone",
}
_OTHERS = {
    r"sentences_per_token": "sentences per token",
    r"marks": "share of tokens that are marks",
    r"breaks": "share of tokens that end a line or a paragraph",
    r"numbers": "share of tokens that are numbers",
    r"unknown_words": "share of unknown words",
    r"unknown_lower": "share of words in small letters that are not known",
    r"unknown_endings": "share of known words with an ending that is not",
    r"capitals": "words that begin with a capital, per word",
    r"word_length": "letters of a word on average",
    r"log_words": "logarithm of the number of words",
    r"distinct_(?P<n>\d+)": "share of different words among {n} on average",
    r"distinct_(?P<n>\d+)_lowest": "share of different words among the {n} with the fewest",
    r"repeated_(?P<n>\d)": "share of {n} words in a row that occurred before",
    r"most_repeated_(?P<n>\d)": "share of the text that the most frequent {n} words in a row are",
    r"topic_nearby": "how alike the topics of neighbouring sentences are",
    r"topic_whole": "how alike the topics of each sentence and of the rest are",
    r"topic_lowest": "the same, of the tenth of the sentences that fits least",
    r"topic_order": "how much more alike neighbouring sentences are than those two apart",
    r"words_of_the_next": "share of words that the next sentence has too",
    r"words_of_the_third": "share of words that the third sentence after it has too",
    r"words_of_others": "share of words that other sentences have too",
}


def in_plain_words(name: str) -> str:
    """What a number of the evidence says. Raises KeyError for a name that none has."""
    head, _, rest = name.partition("_")
    said = _format_number(rest, _OF_A_HEAD, _HEADS[head]) if head in _HEADS else _format_number(name, _OTHERS, "")
    if said is None:
        raise KeyError(name)
    return said


def _format_number(name: str, words: dict[str, str], head: str) -> str | None:
    for pattern, said in words.items():
        if found := re.fullmatch(pattern, name):
            return said.format(head=head, **found.groupdict())
    return None
