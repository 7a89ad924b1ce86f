"""The hot statistics: compiled where the extension was built, else in Python; the numbers are the same."""

from __future__ import annotations

from functools import partial

from filters.characters import SPECIAL_BITMAP

try:
    from filters import _statistics as compiled
except ImportError:
    from filters import pure  # not before: it needs numpy, which takes 0.1 s to import

    COMPILED = False
    words = pure.words
    count_special = pure.count_special
    count_members = pure.count_members
    count_punctuation = pure.count_punctuation
    character_repetition = pure.character_repetition
    word_repetition = pure.word_repetition
else:
    COMPILED = True
    words = partial(compiled.words, SPECIAL_BITMAP)
    count_special = partial(compiled.count_special, SPECIAL_BITMAP)
    count_members = compiled.count_members
    count_punctuation = compiled.count_punctuation
    character_repetition = compiled.character_repetition
    word_repetition = compiled.word_repetition
