"""The hot statistics: compiled where the extension was built, else in Python; the numbers are the same."""

from __future__ import annotations

from functools import partial

from obelics_pipeline.filters.characters import SPECIAL_BITMAP

try:
    from obelics_pipeline.filters import _statistics as compiled
except ImportError:
    from obelics_pipeline.filters import pure  # not before: it needs numpy, which takes 0.1 s to import

    COMPILED = False
    lowered_words = pure.lowered_words
    count_characters = pure.count_characters
    count_members = pure.count_members
    count_punctuation = pure.count_punctuation
    character_repetition = pure.character_repetition
    word_repetition = pure.word_repetition
else:
    COMPILED = True
    lowered_words = partial(compiled.lowered_words, SPECIAL_BITMAP)
    count_characters = compiled.count_characters
    count_members = compiled.count_members
    count_punctuation = compiled.count_punctuation
    character_repetition = compiled.character_repetition
    word_repetition = compiled.word_repetition
