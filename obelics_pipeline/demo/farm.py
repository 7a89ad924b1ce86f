"""A content farm: it copies the demo's own pages and has programs make others of them, so that nobody wrote its pages.

Its programs are the families that `obelics fit detector` trains on; its words are those of a small thesaurus, which
lies beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from random import Random

from obelics_pipeline.demo.page import Page
from obelics_pipeline.fit.farm_detector.chains import Chains
from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, count_words, plain, sentences
from obelics_pipeline.fit.farm_detector.spinning import Spinner
from obelics_pipeline.fit.farm_detector.splicing import spliced
from obelics_pipeline.fit.farm_detector.templates import stuffed_templates
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from obelics_pipeline.fit.farm_detector.translating import Translator
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

HOST = "everyday-answers-hub.example"
COPIED = ("fieldwiki.example", "gardenledger.example", "harbour-news.example", "kitchenlab.example",
          "longwayround.example", "oldclockwork.example", "slowbread.example", "starlog.example")  # fmt: skip
"""Hosts whose articles it takes."""

PAGES = {"spun": 8, "translated": 4, "spliced": 3, "chained": 3, "stuffed": 3}
"""How many pages each program makes."""

SPUN = (0.8,)  # of the words that the thesaurus has: half of those that carry meaning
_SEED = 20310504
_THESAURUS = Path(__file__).parent / "thesaurus.dat"
ORDERS = (1,)  # words that the next one depends on: with more of them, chains of so few pages are copies
_SHORTEST = 12  # words of a paragraph that is copied: no captions, no buttons
_SHORTEST_PAGE = 150  # words; what its programs make of less is thrown away
_TITLE = 9  # words of a title
_PHOTOS = ("morning-garden", "kitchen-table", "old-clock", "harbour-boat", "hill-path", "bread-bowl", "moon-night")

Make = Callable[[Random], MarkedText]


def farm_pages(written: Sequence[Page]) -> Iterator[Page]:
    """The farm's pages, made of those of the `COPIED` hosts; the same each time."""
    programs = _programs(TrustedTexts([_text(page) for page in written if page.host in COPIED]))
    random = Random(_SEED)
    for how, number in PAGES.items():
        for n in range(1, number + 1):
            yield _page(how, n, _made(programs[how], random), random)


def _made(program: Make, random: Random) -> str:
    """What a program makes, as soon as it is long enough."""
    text = ""
    while count_words(text) < _SHORTEST_PAGE:
        text = plain(program(random))
    return text


def _programs(copied: TrustedTexts) -> dict[str, Make]:
    thesaurus = Thesaurus.load(_THESAURUS)
    spinner, translator, chains = Spinner(thesaurus), _translator(thesaurus), Chains(copied, ORDERS)
    return {
        "spun": lambda random: spinner.spin(copied.passage(random), random, SPUN),
        "translated": lambda random: translator.make(copied, random),
        "spliced": lambda random: spliced(copied, random),
        "chained": chains.make,
        "stuffed": lambda random: stuffed_templates(copied, random),
    }


def _translator(thesaurus: Thesaurus) -> Translator:
    """By way of a made-up language that has one word for each row of the thesaurus."""
    back: dict[str, list[str]] = {}
    for word, substitutes in thesaurus.entries.items():
        for _, substitute in substitutes:
            back.setdefault(f"{word}-{substitute.sense}", []).append(substitute.text)
    there: dict[str, list[str]] = {}
    for foreign in back:
        there.setdefault(foreign.rpartition("-")[0], []).append(foreign)
    return Translator(Dictionary(there), Dictionary(back))


def _text(page: Page) -> str:
    """The paragraphs of a page, as a careless copier finds them."""
    from selectolax.lexbor import LexborHTMLParser

    html = LexborHTMLParser(page.body.decode("utf-8", "replace"))
    found = (" ".join(p.text().split()) for p in html.css("p:not(footer p, aside p)"))
    return "\n\n".join(paragraph for paragraph in found if len(paragraph.split()) >= _SHORTEST)


def _page(how: str, number: int, text: str, random: Random) -> Page:
    """The text between pictures of something else, as such pages look."""
    title = " ".join(sentences(text)[0].split()[:_TITLE]).rstrip(".,;:")
    parts = [f"<p>{escape(paragraph, quote=False)}</p>" for paragraph in text.split("\n\n")]
    for place, photo in zip((1, 3), random.sample(_PHOTOS, 2), strict=True):
        picture = f'<img src="/stock/{how}-{number}-{photo}.jpg" alt="{escape(title)}">'
        parts.insert(min(place, len(parts)), picture)
    head = f'<meta charset="utf-8"><title>{escape(title, quote=False)} | Everyday Answers Hub</title>'
    article = "\n".join([f"<h1>{escape(title, quote=False)}</h1>", *parts])
    body = (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body><nav><a href="/">Answers</a> '
        f'<a href="/hot">Hot today</a></nav>\n<article>\n{article}\n</article>\n'
        "<footer>Everyday Answers Hub: the answers you were looking for.</footer></body></html>\n"
    )
    return Page(f"http://{HOST}/{how}/{number}.html", body.encode())
