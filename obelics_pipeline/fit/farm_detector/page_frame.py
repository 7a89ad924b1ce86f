"""What stands around the text of a page, and is often taken along: menus, notices, bylines, teasers of other pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import WORD, MarkedText, Piece, count_words, marked
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z]\.)? [A-Z][a-z]+\b")
_BEGINS, _ENDS, _BETWEEN = 0.6, 0.8, 0.15  # of pages whose frame stands there; of borders of paragraphs
_SHARES = (0.05, 0.1, 0.2, 0.4)  # words of the frame, at most, for each of the text
_TEASER = 30  # words


class PageFrame:
    """The frame of one page."""

    def __init__(self, trusted: TrustedTexts, random: Random) -> None:
        self._trusted, self._random, self._said = trusted, random, trusted.wording
        self.site = " ".join(w.capitalize() for w in random.choices(trusted.common_words, k=random.randint(1, 3)))

    def menu(self) -> str:
        """An entry, or some of them in a row."""
        some = self._random.choice((1, 1, 1, 1, 2, 4, 8))
        return self._random.choice((" / ", " | ", " ", " · ", ", ")).join(self._random.choices(self._said.menu, k=some))

    def notice(self) -> str:
        """What a site says to everybody."""
        return self._fill(self._random.choice(self._said.notices))

    def byline(self) -> str:
        """The author of a text, drawing or saying, and its date."""
        return self._fill(self._random.choice(self._said.bylines))

    def title(self) -> str:
        """The name of another page."""
        return title_of(self._random.choice(self._trusted.some(self._random)), self._random)

    def teaser(self) -> str:
        """Another page, and how it begins."""
        begin = " ".join(self._random.choice(self._trusted.some(self._random)).split()[:_TEASER])
        between, end = (
            self._random.choice((": ", " – ", "\n")),
            self._random.choice(("", "…", f" {self._said.read_more}")),
        )
        return f"{self.title()}{between}{begin}{end}"

    def line(self) -> str:
        """Any of these."""
        kinds: list[Callable[[], str]] = [self.menu, self.notice, self.byline, self.title, self.teaser]
        (kind,) = self._random.choices(kinds, (4, 2, 3, 2, 1))
        line = kind()
        return line.upper() if self._random.random() < 0.1 else line

    def _fill(self, template: str) -> str:
        random = self._random
        names = _NAME.findall(" ".join(self._trusted.some(random)))
        return template.format(
            site=self.site,
            name=random.choice(names) if names else self.site,
            title=self.title() if "{title}" in template else "",
            word=random.choice(self._trusted.common_words),
            hour=random.randint(0, 23),
            minute=random.randint(10, 59),
            day=random.randint(1, 28),
            month=random.randint(1, 12),
            year=random.randint(2005, 2025),
        )


def title_of(sentence: str, random: Random) -> str:
    """Some words of a sentence."""
    words = WORD.findall(sentence) or [sentence]
    begin = random.randrange(max(1, len(words) - 3))
    title = " ".join(words[begin : begin + random.randint(1, 6)])
    return title.title() if random.random() < 0.6 else title


def framed(text: MarkedText, trusted: TrustedTexts, random: Random) -> MarkedText:
    """A text with lines of a frame before it, behind it and between its paragraphs.

    None of them bears a mark: that they do not follow from the text is how pages are, not what a program did.
    """
    frame, separator = PageFrame(trusted, random), random.choice(("\n", "\n\n"))
    left = int(random.choice(_SHARES) * sum(piece.is_word for piece in text))

    def lines(most: int) -> MarkedText:
        nonlocal left
        made: MarkedText = []
        for _ in range(random.randint(1, most)):
            line = frame.line()
            left -= count_words(line)
            if left < 0:
                break
            made += [*marked(line), Piece(separator)]
        return made

    made = lines(8) if random.random() < _BEGINS else []
    for piece in text:
        made.append(piece)
        if piece.text.endswith("\n\n") and random.random() < _BETWEEN:
            made += [*lines(2), Piece("\n\n")]
    return [*made, Piece("\n\n"), *lines(15)] if random.random() < _ENDS else made
