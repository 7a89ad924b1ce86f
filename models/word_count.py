"""How many words a text has, compiled where that was built."""

from __future__ import annotations

try:
    from obelics_pipeline.models._word_index import count_words
except ImportError:

    def count_words(text: str, /) -> int:
        """The words of a text: what white space parts."""
        return len(text.split())


__all__ = ["count_words"]
