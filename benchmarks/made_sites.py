"""Whole sites to fit the verdict of the stage `site` on: farms that are made here, and honest sites of given texts.

    python benchmarks/made_sites.py --texts TEXTS.jsonl.gz --documentation FOLDER … --output FOLDER

TEXTS.jsonl.gz has {"source", "text"} a line, of trusted English. Each FOLDER of HTML pages is the site of one piece of
documentation. Writes sites.warc.gz, and sites.jsonl with {"url", "label", "family"} a line; label 1 is a farm.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGES = 30  # of a site
SITES = 6  # of a family
DOCUMENTATION_PAGES = 40

Paragraphs = list[str]
Pages = list[Paragraphs]

TOWNS = (
    "Alderbrook", "Bexcombe", "Carrow Falls", "Dunmere", "Eastwick Bay", "Fallowfield", "Grantham Hills", "Hollis",
    "Inverlea", "Jarrow Point", "Kelsing", "Lower Marden", "Millhaven", "Northolt Green", "Oakridge", "Port Ansel",
    "Quarry Bend", "Redwater", "Saltash Creek", "Thornbury", "Upton Vale", "Vernal", "Westmark", "Yarrow", "Zell River",
    "Ashby", "Brant Lake", "Corvale", "Dellwood", "Elmstead", "Foxley", "Glenrose", "Harwick", "Isleworth", "Juniper",
)  # fmt: skip
TRADES = ("gutter cleaning", "carpet repair", "piano tuning", "tree removal", "pest control", "window tinting")
THINGS = (
    "garden hose", "desk lamp", "rice cooker", "hiking pole", "office chair", "bike helmet", "air fryer", "phone mount",
    "yoga mat", "camp stove", "coffee grinder", "dog bed", "laptop sleeve", "bath scale", "paint roller", "tool chest",
    "bird feeder", "wall clock", "tent peg", "pasta maker", "snow shovel", "baby monitor", "card reader", "drill press",
    "egg timer", "fan heater", "glue gun", "hand truck", "ice scraper", "jam jar", "key safe", "lint remover",
)  # fmt: skip
DREAMS = (
    "a broken bridge", "an old teacher", "a white horse", "a flooded cellar", "a lost ticket", "a tall ladder",
    "a silent crowd", "a burning letter", "a sleeping child", "a narrow road", "a golden coin", "a locked garden",
    "a black swan", "a falling tower", "a red curtain", "an empty train", "a deep well", "a paper boat", "a wild storm",
    "a cracked mirror", "a stone gate", "a small island", "a heavy suitcase", "a foreign city", "a singing bird",
    "a dusty attic", "a wooden mask", "a frozen lake", "a hidden door", "a wedding feast", "a tired wolf",
    "a blue lamp",
)  # fmt: skip

DOORWAY = (
    "If you live in {town} and you need {trade}, then our team of {n} people is the one that you can call at any time.",
    "We have been doing {trade} in {town} and in all of the places around it for more than {n} years now.",
    "There is no job in {town} that is too small for us, and there are few that would be too large.",
    "Our prices for {trade} are among the lowest in {town}, and you will know them before we start with the work.",
    "Many of the homes in {town} were built before {year}, which is why {trade} should be done by "
    "someone who knows them.",
    "Call us today and one of our {trade} crews will be at your door in {town} within {n} hours or less.",
    "All of those who work with us in {town} are trained, insured and happy to answer what you may ask about {trade}.",
    "What sets us apart from the others who offer {trade} near {town} is that we come back if you are not content.",
    "The people of {town} trust us with their {trade} since we do what we say and we charge what we said.",
    "You can ask for a free quote on {trade} in {town}, and you will have it from us on the same day.",
    "When it is time for {trade}, do not try to do it on your own, for it may cost you more than {n} "
    "dollars in the end.",
    "From the first call to the last bill, your {trade} in {town} will be in the hands of one and the same person.",
    "We use only what is safe for you, for your pets and for the water that {town} takes from the ground.",
    "Each year we are asked by more than {n} families in {town} to take care of their {trade} before the winter comes.",
)
REVIEW = (
    ("When we took the {thing} out of its box, ", "The first thing that we saw of the {thing} was that ",
     "Before we say what we think of the {thing}, you should know that "),
    ("it was clear that it had been made by those who care, ", "it is not as light as the others that we had, ",
     "it comes with all that you need for the first {n} days, "),
    ("and this is what most of those who buy one are looking for.", "which may or may not be what you want from it.",
     "so that you can use it at once and without the help of a friend."),
    ("In our test it did well in {n} of {m} rounds, ", "We gave it {n} points for what it does, ",
     "After {n} weeks with it in our kitchen, "),
    ("but it was not as good as we had hoped at the end of the day.",
     "and there was nothing that we could hold against it.",
     "and we would buy it again if it were to break on us tomorrow."),
    ("If you are in doubt between this and another {thing}, ", "For those who want a {thing} that lasts, ",
     "Should you be on a budget and in need of a {thing}, "),
    ("you will not go wrong with the one that we have here.", "this is one of the few that we can put our name to.",
     "then it is worth it to wait until there is a sale on it."),
)  # fmt: skip
DREAM = (
    "To see {dream} in your sleep is a sign that something in your life has not been said to the one who "
    "should hear it.",
    "If {dream} was near to you, then the change is about to come, and you will have to take a side in it.",
    "If {dream} was far away, then it is about what you had in the past and of what you have not yet let go.",
    "Those who dream of {dream} more than once should ask themselves whether they are where they want to be.",
    "In the old books it is said that {dream} stands for the will of those who came before us.",
    "For a woman to dream of {dream} is often about her work, and for a man it is about his own father.",
    "When {dream} turns into something else before you wake up, you are afraid of what the others may think of you.",
    "There is no need to be afraid of {dream}, as it is in you and it can do no more than you let it do.",
    "It is good luck to tell someone of {dream} before the day is over, but not before you have had your bread.",
    "Once you know what {dream} wants of you, it will not come back, or it will be of another kind.",
)


@dataclass(frozen=True)
class Site:
    """A site: its host, whether it is a farm, the family of what made it, and its pages, HTML or paragraphs."""

    host: str
    is_farm: bool
    family: str
    pages: Sequence[Paragraphs | bytes]


def main() -> None:
    """Make the sites and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--documentation", type=Path, nargs="*", default=[])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with gzip.open(arguments.texts, "rt", encoding="utf-8") as lines:
        texts = Texts([json.loads(line)["text"] for line in lines], random.Random(arguments.seed))
    sites = [*farms(texts), *honest(texts), *documentation(arguments.documentation, texts.dice)]
    arguments.output.mkdir(parents=True, exist_ok=True)
    with (
        gzip.open(arguments.output / "sites.jsonl.gz", "wt", encoding="utf-8") as rows,
        (arguments.output / "sites.warc.gz").open("wb") as warc,
    ):
        for site in sites:
            for number, page in enumerate(site.pages):
                url = f"https://{site.host}/{number}.html"
                rows.write(json.dumps({"url": url, "label": int(site.is_farm), "family": site.family}) + "\n")
                warc.write(record(url, page if isinstance(page, bytes) else html_of(page)))
    print(f"{len(sites)} sites, {sum(site.is_farm for site in sites)} of them farms")


class Texts:
    """Trusted texts, each given once, and their sentences and words."""

    def __init__(self, texts: Sequence[str], dice: random.Random) -> None:
        self.dice = dice
        self._left = [text for text in texts if len(text.split()) >= 150]  # in their order: neighbours are alike

    def some(self, number: int) -> list[Paragraphs]:
        """As many texts that stand together, as paragraphs."""
        start = self.dice.randrange(len(self._left) - number)
        found, self._left[start : start + number] = self._left[start : start + number], []
        return [[p for p in text.split("\n\n") if p.strip()] or [text] for text in found]

    def sentences(self, number: int) -> list[str]:
        """As many long sentences of texts that stand together, in their order."""
        found: list[str] = []
        while len(found) < number:
            for text in self.some(1):
                found += [s for s in sentences_of(" ".join(text)) if 10 <= len(s.split()) <= 45]
        return found[:number]


def sentences_of(text: str) -> list[str]:
    """A text in sentences."""
    return re.split(r"(?<=[.!?])\s+", text)


def farms(texts: Texts) -> Iterator[Site]:
    """Farms of every family, and the honest sites that some of them took their texts from."""
    makers: dict[str, Callable[[Texts], Pages]] = {
        "doorway": doorway, "review": review, "dream": dream, "spun": spun, "chained": chained, "glued": glued,
    }  # fmt: skip
    for family, make in makers.items():
        for number in range(SITES):
            yield Site(f"farm-{family}-{number}.com", True, family, make(texts))
    stolen = [texts.some(PAGES) for _ in range(4)]  # from sites that are in the crawl too
    for number, pages in enumerate(stolen):
        yield Site(f"victim-{number}.org", False, "victim", pages)
    for number, pages in enumerate(stolen[:2]):
        yield Site(f"farm-respun-{number}.com", True, "respun", respun(texts, pages))
    for network, pages in enumerate([*stolen[2:], texts.some(PAGES)]):
        pool = [s for page in pages for s in sentences_of(" ".join(page))]
        for number in range(SITES):
            yield Site(f"farm-stitched-{network}-{number}.com", True, "stitched", stitched(texts, pool))
    for network, make in enumerate((review, dream)):
        pages = make(texts)
        for number in range(SITES):
            few = pages[number * 4 : number * 4 + 4]
            yield Site(f"farm-network-{network}-{number}.com", True, "network", few)


def doorway(texts: Texts) -> Pages:
    """A page for each town, of ten of the sentences that the site has."""
    dice, trade = texts.dice, texts.dice.choice(TRADES)
    own = dice.sample(DOORWAY, 12)

    def page(town: str) -> Paragraphs:
        chosen = [own[i] for i in sorted(dice.sample(range(len(own)), 10))]
        said = [
            s.format(town=town, trade=trade, n=dice.randrange(2, 90), year=dice.randrange(1900, 1990)) for s in chosen
        ]
        return in_paragraphs(said, 3)

    return [page(town) for town in dice.sample(TOWNS, PAGES)]


def review(texts: Texts) -> Pages:
    """A page for each thing, of sentences whose clauses have alternatives."""
    dice = texts.dice

    def page(thing: str) -> Paragraphs:
        said = ["".join(dice.choice(slot) for slot in REVIEW).format(thing=thing, n=dice.randrange(2, 40), m=50)]
        said += [dice.choice(dice.choice(REVIEW)).strip().capitalize().rstrip(",") for _ in range(4)]
        said += ["".join(dice.choice(slot) for slot in REVIEW[3:])]
        return [s.format(thing=thing, n=dice.randrange(2, 40), m=50) for s in said]

    return [page(thing) for thing in dice.sample(THINGS, PAGES)]


def dream(texts: Texts) -> Pages:
    """A page for each dream, of seven of ten sentences in any order."""
    dice = texts.dice
    return [
        in_paragraphs([s.format(dream=seen) for s in dice.sample(DREAM, 7)], 4) for seen in dice.sample(DREAMS, PAGES)
    ]


def spun(texts: Texts) -> Pages:
    """Versions of three articles: a third of the long words changed for others that end alike."""
    articles = [texts.sentences(16) for _ in range(3)]
    return respun(texts, [[" ".join(articles[i % 3])] for i in range(PAGES)])


def respun(texts: Texts, pages: Pages) -> Pages:
    """A version of each page."""
    dice, by_end = texts.dice, dict[str, list[str]]()
    for word in re.findall(r"\b[a-z]{5,}\b", " ".join(texts.sentences(1500))):
        by_end.setdefault(word[-2:], []).append(word)

    def other(match: re.Match[str]) -> str:
        return dice.choice(by_end.get(match[0][-2:], [match[0]])) if dice.random() < 0.35 else match[0]

    def version(page: Paragraphs) -> Paragraphs:
        said = [re.sub(r"\b[a-z]{5,}\b", other, s) for s in sentences_of(" ".join(page)) if dice.random() < 0.9]
        return in_paragraphs(said, 4)

    return [version(page) for page in pages]


def chained(texts: Texts) -> Pages:
    """Text in which each word follows the two before it somewhere in given texts."""
    words = " ".join(texts.sentences(1200)).split()
    after: dict[tuple[str, str], list[str]] = {}
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        after.setdefault((first, second), []).append(third)

    def page() -> Paragraphs:
        at = texts.dice.randrange(len(words) - 2)
        said = words[at : at + 2]
        while len(said) < 300:
            said.append(texts.dice.choice(after.get((said[-2], said[-1]), words)))
        return in_paragraphs(said, 75)

    return [page() for _ in range(PAGES)]


def glued(texts: Texts) -> Pages:
    """Sentences of two halves, each of another text."""
    pool = [sentence.split() for sentence in texts.sentences(600)]

    def sentence() -> str:
        first, second = texts.dice.sample(pool, 2)
        return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])

    return [in_paragraphs([sentence() for _ in range(14)], 4) for _ in range(PAGES)]


def stitched(texts: Texts, pool: Sequence[str]) -> Pages:
    """Posts of a network: sentences of others, one after the other."""
    return [in_paragraphs(texts.dice.sample(pool, 14), 4) for _ in range(PAGES)]


def honest(texts: Texts) -> Iterator[Site]:
    """Honest sites: of one author, of customers of a news agency, with quotations, shops, forums."""
    dice = texts.dice
    for number in range(3 * SITES):
        yield Site(f"author-{number}.org", False, "author", texts.some(PAGES))
    agency, verses = texts.some(40), texts.sentences(80)
    for number in range(SITES):
        own = texts.some(18)
        taken = [cut(dice, page, texts) for page in dice.sample(agency, 16)]
        yield Site(f"news-{number}.org", False, "agency", [*own, *taken])
        quoting = [[*page, *dice.sample(verses, 4)] for page in texts.some(PAGES)]
        yield Site(f"sermons-{number}.org", False, "quotations", quoting)
        yield Site(f"shop-{number}.com", False, "shop", shop(texts))
        yield Site(f"forum-{number}.org", False, "forum", [forum(texts) for _ in range(PAGES)])


def cut(dice: random.Random, page: Paragraphs, texts: Texts) -> Paragraphs:
    """An agency's text as a paper prints it: some of its sentences, from the first on, and a few of the paper's own."""
    sentences = sentences_of(" ".join(page))
    return [
        *in_paragraphs(sentences[: dice.randrange(6, 25)], 4),
        *in_paragraphs(texts.sentences(dice.randrange(3, 9)), 4),
    ]


def shop(texts: Texts) -> Pages:
    """Things with a description each, and long sentences of the shop that name the thing."""
    dice = texts.dice
    days = dice.randrange(2, 9)
    frame = [
        "If you order the {thing} before noon we will send it to you on the same day, "
        f"and it is with you in {days} days.",
        "Should you not be happy with your {thing}, then you can send it back to us "
        "within {n} days of the day you had it.",
        "You can pay for the {thing} by card, by bill or at the door, "
        "and we add nothing to the price for any of these.",
    ]

    def page(thing: str) -> Paragraphs:
        said = [s.format(thing=thing, n=dice.choice([14, 30])) for s in frame]
        return [*in_paragraphs(texts.sentences(dice.randrange(5, 12)), 3), *said]

    return [page(thing) for thing in dice.sample(THINGS, PAGES)]


def forum(texts: Texts) -> Paragraphs:
    """Posts of several people, each with a line under it that the forum or they put there."""
    dice, page = texts.dice, Paragraphs()
    for post in in_paragraphs(texts.sentences(dice.randrange(8, 20)), dice.randrange(2, 5)):
        page.append(post)
        page.append(
            f"Posted by user {dice.randrange(40)} on day {dice.randrange(300)}, and {dice.randrange(9)} like this."
        )
    return [*page, "You must be logged in to reply to this topic, and you must not post links in it."]


def in_paragraphs(sentences: Sequence[str], size: int) -> Paragraphs:
    """Sentences in paragraphs of a size."""
    return [" ".join(sentences[i : i + size]) for i in range(0, len(sentences), size)]


def documentation(folders: Sequence[Path], dice: random.Random) -> Iterator[Site]:
    """Real pages: each folder is a site."""
    for number, folder in enumerate(folders):
        files = sorted(path for path in folder.rglob("*.html") if path.is_file() and path.stat().st_size > 4000)
        chosen = dice.sample(files, min(DOCUMENTATION_PAGES, len(files)))
        yield Site(f"documentation-{number}.org", False, "documentation", [path.read_bytes() for path in chosen])


def html_of(paragraphs: Paragraphs) -> bytes:
    """A page of paragraphs under a heading."""
    title = html.escape(" ".join(paragraphs[0].split()[:6]))
    body = "".join(f"<p>{html.escape(paragraph)}</p>\n" for paragraph in paragraphs)
    page = f"<html lang=en><head><title>{title}</title></head><body><article><h1>{title}</h1>\n{body}</article></body>"
    return page.encode()


def record(url: str, page: bytes) -> bytes:
    """A response as a member of a WARC file."""
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(response)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + response + b"\r\n\r\n", mtime=0)


if __name__ == "__main__":
    main()
