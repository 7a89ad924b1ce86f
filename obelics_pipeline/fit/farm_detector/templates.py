"""Templates with a keyword in them, page after page: what is made to be found, not to be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, count_words, in_paragraphs, marked
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

STUFFED_PROSE = (0.0, 0.0, 0.3, 0.6)  # share of sentences that are of a text, with the keyword put in
_TOO_COMMON, _TOO_RARE = 200, 6000  # places of the words that keywords are made of

_ALTERNATIVES = re.compile(r"\[([^]]+)\]")


def stuffed_templates(trusted: TrustedTexts, random: Random) -> MarkedText:
    """A page of templates around one keyword, with or without prose that the keyword is put into."""
    keyword = _keyword(trusted, random)
    share = random.choice(STUFFED_PROSE)
    prose = trusted.some(random)
    said = trusted.wording
    body = random.sample(said.bodies, random.randint(6, len(said.bodies)))
    parts: list[MarkedText] = [[*marked(keyword.fill(random.choice(said.titles), random)), Piece("\n\n")]]
    words = random.choice(LENGTHS)
    while words > 0:
        if random.random() < share:
            sentence = _stuffed(random.choice(prose), keyword.key, random)
        else:
            kind = random.choice((said.openings, body, body, body, body, said.endings))
            sentence = keyword.fill(random.choice(kind), random)
        words -= count_words(sentence)
        parts.append(marked(sentence))
    return in_paragraphs(parts, random)


@dataclass(frozen=True, slots=True)
class _Keyword:
    """What a page is about, and where."""

    key: str
    other: str
    city: str
    elsewhere: str

    def fill(self, template: str, random: Random) -> str:
        template = _ALTERNATIVES.sub(lambda ways: random.choice(ways[1].split("|")), template)
        return template.format(
            key=self.key,
            Key=self.key[0].upper() + self.key[1:],
            other=self.other,
            city=random.choice((self.city, self.city, self.city, self.elsewhere)),
            elsewhere=self.elsewhere,
            few=random.randint(1, 10),
            small=random.randint(5, 400),
            large=random.randint(400, 3000),
            year=random.randint(2012, 2026),
        )


def _keyword(trusted: TrustedTexts, random: Random) -> _Keyword:
    words = trusted.common_words[_TOO_COMMON:_TOO_RARE]
    words = words if len(words) > 3 else trusted.common_words
    one, two, three, four = random.choices(words, k=4)
    key = random.choice((one, f"{one} {two}", f"{one} {two}", f"{trusted.wording.best} {one} {two}"))
    other = random.choice((three, f"{three} {four}", key))
    return _Keyword(key, other, *random.sample(trusted.wording.cities, 2))


def _stuffed(sentence: str, key: str, random: Random) -> str:
    words = sentence.split(" ")
    for _ in range(random.choice((0, 1, 1, 2))):
        words.insert(random.randrange(len(words) + 1), key)
    return " ".join(words)
