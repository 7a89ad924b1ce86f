"""Templates with a keyword in them, page after page: what is made to be found, not to be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, count_words, in_paragraphs, marked
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

STUFFED_PROSE = (0.0, 0.0, 0.3, 0.6)  # share of sentences that are of a text, with the keyword put in
_TOO_COMMON, _TOO_RARE = 200, 6000  # places of the words that keywords are made of

# [one|another]: ways to say the same, as templates are varied by those who fill them.
TITLES = """\
Best {key} {year}
Top {few} {key} in {city}
[Cheap|Affordable|Discount] {key} {city}
{Key}: review and buying guide {year}
{Key} [prices|reviews|deals] in {city} ({year})
The {few} best {key} of {year}, [tested|compared|reviewed]""".splitlines()

OPENINGS = """\
Are you [looking for|thinking about|in need of] {key}?
If you need {key} then this is the right [page|place] for you.
{Key} is what many people [search for|want] these days.
Welcome to our [guide|page] about {key}.
There are many {key} [on the market|out there], and it is [hard|not easy] to pick one.
Everybody knows how important {key} can be.
Here is [all|everything] you need to know about {key} in {city}.
Let us talk about {key} and {other}.
[Choosing|Buying|Finding] {key} in {city} {year} does not have to be [hard|expensive].
Whether you live in {city} or {elsewhere}, {key} [makes|can make] life easier.""".splitlines()

BODIES = """\
We compared {key} and {other} so that you save [time and money|time|money].
The price of {key} starts from ${small} and goes up to ${large}.
Read {key} reviews before you order {key} online.
Our team has tested more than {small} {key} this year.
One of the top rated {key} is made by a company in {city}.
With {key} you get [quality|value], comfort and a great design.
Number {few}: this {key} is a [favourite|bestseller] of [buyers|families|experts] in {city}.
{Key} for sale, {key} discount, {key} coupon, cheap {key}.
Many users say that {key} changed their life.
You can buy {key} online or at a {key} store near you.
Q: What is the best {key}? A: The best {key} is the one that fits your budget.
Features: light, durable, easy to clean, {small} day warranty.
[Click|Follow] the link to check the current price.
Do not forget to compare {other} with {key} first.
{Key} in {city} is cheaper than {key} in {elsewhere}.
What are the benefits of {key}?
How long does {key} last? It depends on the {key} that you choose.
When buying {key}, look at size, weight, brand and price.
The {key} that we recommend in {year} is easy to use.
Free shipping on every {key} order over ${small}.
People who bought {key} also looked at {other}.
In {year} the demand for {key} in {city} [grew|went up] by {small} percent.
Our {key} experts in {city} are [ready to help|here for you] seven days a week.
Call the {key} specialists of {city} for a free quote.
It is [no secret|well known] that {key} in {city} [can cost|costs] more than ${small}.
Advantages: good {key}, fair price, {key} for every need.
Drawbacks: the {key} may be sold out in {city}.
Next on the list is {key} number {few}, [perfect|great] for anyone in {city}.
A {key} from {city} is a [smart|good] investment in {year}.
{Key} vs {other}: which one is better?
The {few} things to know before you get {key} in {city}.
Thousands of people in {city} and {elsewhere} already use {key}.
How to find {key} at a low price in {city}?""".splitlines()

ENDINGS = """\
We hope this [article|review|page] about {key} was useful for you.
In conclusion, {key} is a good choice for everyone.
Contact us today for {key} in {city}.
Share this post about {key} with your friends.
Final words: pick the {key} that suits you.
To sum up, {key} in {city} [is worth it|is a must] in {year}.""".splitlines()

CITIES = """\
Austin|Leeds|Boston|Toronto|Dallas|Miami|Perth|Glasgow|Phoenix|Chicago|London|Tampa|New York|Los Angeles|San Jose|\
Cape Town|New Orleans|Salt Lake City|St. Louis|Kansas City|Hong Kong|Dublin|Manchester|Seattle|Houston""".split("|")

_ALTERNATIVES = re.compile(r"\[([^]]+)\]")


def stuffed_templates(trusted: TrustedTexts, random: Random) -> MarkedText:
    """A page of templates around one keyword, with or without prose that the keyword is put into."""
    keyword = _keyword(trusted, random)
    share = random.choice(STUFFED_PROSE)
    prose = trusted.some(random)
    body = random.sample(BODIES, random.randint(6, len(BODIES)))
    parts: list[MarkedText] = [[*marked(keyword.fill(random.choice(TITLES), random)), Piece("\n\n")]]
    words = random.choice(LENGTHS)
    while words > 0:
        if random.random() < share:
            sentence = _stuffed(random.choice(prose), keyword.key, random)
        else:
            kind = random.choice((OPENINGS, body, body, body, body, ENDINGS))
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
    key = random.choice((one, f"{one} {two}", f"{one} {two}", f"best {one} {two}"))
    other = random.choice((three, f"{three} {four}", key))
    return _Keyword(key, other, *random.sample(CITIES, 2))


def _stuffed(sentence: str, key: str, random: Random) -> str:
    words = sentence.split(" ")
    for _ in range(random.choice((0, 1, 1, 2))):
        words.insert(random.randrange(len(words) + 1), key)
    return " ".join(words)
