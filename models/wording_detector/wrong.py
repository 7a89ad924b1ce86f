"""Words of a text that people hardly write so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrong:
    """Tokens of a text, from `first` to `last`, and what speaks against them.

    `log_odds`: how much more often other words stand there, as a natural log. Of a word of grammar: than `instead`. Of
    a pair: how often trusted texts would have it if words came at random, and none has it. Of words whose shapes do not
    agree: how much more often they would stand there at random. Of what is said again: how much more often it stands in
    the text than it would at random.
    """

    about: str
    first: int
    last: int
    log_odds: float
    instead: str | None = None  # what fits better
    times: int = 1  # that they stand in the text
