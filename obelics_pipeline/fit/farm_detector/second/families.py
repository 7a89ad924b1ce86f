"""The second implementation of each family, by name, with its share of the made documents before scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, marked
from obelics_pipeline.fit.farm_detector.second.babble import babble
from obelics_pipeline.fit.farm_detector.second.furniture import furniture
from obelics_pipeline.fit.farm_detector.second.glossing import Glosser
from obelics_pipeline.fit.farm_detector.second.grammars import by_rule, slots
from obelics_pipeline.fit.farm_detector.second.rewording import Reworder
from obelics_pipeline.fit.farm_detector.second.stitching import jumbled, snippets, stitched
from obelics_pipeline.fit.farm_detector.second.topics import Topics, length, run
from obelics_pipeline.fit.farm_detector.second.wordnet import Wordnet
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

WEIGHTS: Mapping[str, float] = {
    "rewording": 4.0,
    "seed_articles": 2.5,
    "stitching": 2.5,
    "snippets": 1.0,
    "jumbling": 1.0,
    "glossing": 3.0,
    "babble": 2.5,
    "by_rule": 2.5,
    "slots": 1.5,
    "furniture": 1.0,
}
NEED_WORDNET, NEED_GLOSSARIES = ("rewording", "seed_articles"), ("glossing",)
_MIXED = 0.15  # of the documents, those that begin or end with honest text

Make = Callable[[Random], MarkedText]


def second_makers(trusted: TrustedTexts, wordnet: Wordnet | None, glossaries: Sequence[Dictionary]) -> dict[str, Make]:
    """What makes a document of each family that can be made of what is there."""
    topics = Topics(trusted)
    made: dict[str, Make] = {
        "stitching": lambda random: stitched(topics, random),
        "snippets": lambda random: snippets(topics, random),
        "jumbling": lambda random: jumbled(topics, random),
        "babble": lambda random: babble(topics, random),
        "by_rule": lambda random: by_rule(topics, random),
        "slots": lambda random: slots(topics, random),
        "furniture": lambda random: furniture(topics, random),
    }
    if wordnet is not None:
        reworder = Reworder(topics, wordnet)
        made |= {"rewording": reworder.reworded, "seed_articles": reworder.seed_article}
    if glossaries:
        glossers = [Glosser(topics, dictionary) for dictionary in glossaries]
        made["glossing"] = lambda random: random.choice(glossers).make(random)
    return {name: _mixed(topics, made[name]) for name in WEIGHTS if name in made}


def _mixed(topics: Topics, make: Make) -> Make:
    def made(random: Random) -> MarkedText:
        text = make(random)
        if random.random() >= _MIXED:
            return text
        honest = marked(" ".join(run(topics.trusted.some(random), random, length(random) // 3)))
        return [*honest, Piece("\n\n"), *text] if random.random() < 0.5 else [*text, Piece("\n\n"), *honest]

    return made
