"""How much of a page is looked at closely: what only seems to hold numbers without end must not cost hours."""

from __future__ import annotations

# Of a page: fifty times what any of the 548 largest of 2,118 real pages needs (docs/personal_data.md). A look
# takes some 0.05 ms.
MOST_LOOKS = 50_000


class TooManyLooks(Exception):
    """What is left of a page was not searched: nothing of its text may be stored."""


class SearchBudget:
    """The number of close looks that are left for a page. A look is spent at each position where a value may begin."""

    def __init__(self, most: int = MOST_LOOKS) -> None:
        self.left = most

    def take(self, number: int = 1) -> None:
        """Take one, or what a dearer look counts for. Raises TooManyLooks where fewer are left."""
        if self.left < number:
            raise TooManyLooks
        self.left -= number
