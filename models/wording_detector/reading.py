"""The tokens of a text in the form that is judged; compiled where that was built, else in Python."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, repeat

import numpy as np

from obelics_pipeline.models.chat_detector.form import tokens_of as english_tokens_of
from obelics_pipeline.models.wording_detector.tokens import plain_marks, tokens_of
from obelics_pipeline.models.wording_detector.vocabulary import NUMBER, UNKNOWN, Tokens, Vocabulary

try:
    from obelics_pipeline.models.wording_detector import _reading as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True


def read_english(form: str, vocabulary: Vocabulary) -> Tokens:
    """Those of a text in English: other letters are skipped."""
    if not COMPILED:
        return read_tokens(english_tokens_of(form), vocabulary)
    return _of_bytes(form, *compiled.english(form, vocabulary.index))


def read_any(form: str, vocabulary: Vocabulary) -> Tokens:
    """Those of a text in any language whose words are parted by blanks."""
    if not COMPILED:
        return read_tokens(tokens_of(form), vocabulary)
    plain = plain_marks(form)
    return _of_bytes(plain, *compiled.any(plain, vocabulary.index))


def read_tokens(written: Sequence[str], vocabulary: Vocabulary) -> Tokens:
    """The same, by Python, of tokens that were found: what both must return, except the form, here with blanks."""
    lower = list(map(str.lower, written))
    number = np.fromiter(map(vocabulary.numbers.get, lower, repeat(UNKNOWN)), np.int64, len(lower))
    for place in np.flatnonzero(number == UNKNOWN).tolist():
        if lower[place][0].isdigit():
            number[place] = NUMBER
    seen: dict[str, int] = {}
    lengths = np.fromiter(map(len, written), np.int64, len(written))
    ends = np.cumsum(lengths + 1) - 1
    return Tokens(
        form=" ".join(written),
        begins=ends - lengths,
        ends=ends,
        lowered=np.frombuffer("".join(lower).encode("utf-32-le", "surrogatepass"), np.uint32),
        lower_begins=np.array(list(accumulate(map(len, lower), initial=0)), np.int64),
        number=number,
        own=np.array([seen.setdefault(token, len(seen)) for token in lower], np.int64),
        is_word=np.array([token[0].isalpha() for token in lower], bool),
        is_mark=np.array([not token[0].isalnum() for token in lower], bool),
        as_written=np.array([one == other for one, other in zip(written, lower, strict=True)], bool),
    )


def _of_bytes(
    form: str,
    begins: bytes,
    ends: bytes,
    lowered: bytes,
    lower_begins: bytes,
    number: bytes,
    own: bytes,
    is_word: bytes,
    is_mark: bytes,
    as_written: bytes,
) -> Tokens:
    return Tokens(
        form,
        np.frombuffer(begins, np.int64),
        np.frombuffer(ends, np.int64),
        np.frombuffer(lowered, np.uint32),
        np.frombuffer(lower_begins, np.int64),
        np.frombuffer(number, np.int64),
        np.frombuffer(own, np.int64),
        np.frombuffer(is_word, bool),
        np.frombuffer(is_mark, bool),
        np.frombuffer(as_written, bool),
    )
