"""The families of generated text that a detector is trained on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.boilerplate import boilerplate
from obelics_pipeline.fit.farm_detector.chains import Chains
from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText
from obelics_pipeline.fit.farm_detector.page_frame import framed
from obelics_pipeline.fit.farm_detector.second import families as second
from obelics_pipeline.fit.farm_detector.second.wordnet import Wordnet
from obelics_pipeline.fit.farm_detector.shuffling import mixed_sentences, sentences_out_of_order, words_out_of_order
from obelics_pipeline.fit.farm_detector.spinning import Spinner
from obelics_pipeline.fit.farm_detector.splicing import spliced
from obelics_pipeline.fit.farm_detector.templates import stuffed_templates
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from obelics_pipeline.fit.farm_detector.translating import Translator
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts
from obelics_pipeline.fit.farm_detector.unusual import laid_out, posts, unusual
from obelics_pipeline.fit.farm_detector.wrong_words import wrong_words

# Share of the made documents, before scaling: more of what is hard to tell, less of what gives itself away.
_FIRST: Mapping[str, float] = {
    "spinning": 5.0,
    "wrong_words": 1.5,
    "splicing": 2.0,
    "mixed_sentences": 2.0,
    "sentences_out_of_order": 0.5,
    "words_out_of_order": 1.0,
    "chains": 3.0,
    "translating": 2.0,
    "templates": 2.0,
    "boilerplate": 1.0,
}
WEIGHTS: Mapping[str, float] = {**_FIRST, **second.WEIGHTS}
# What was programmed twice: each judges a detector that learned from the other.
IMPLEMENTATIONS: Mapping[str, Collection[str]] = {"first": tuple(_FIRST), "second": tuple(second.WEIGHTS)}
ENGLISH = "en"  # the language whose grammars, frames and phrases the second implementation has

Make = Callable[[Random], MarkedText]


@dataclass(frozen=True)
class Words:
    """What is put in place of words; families that need what is not there are not made."""

    thesaurus: Thesaurus
    translators: Sequence[Translator] = ()
    wordnet: Wordnet | None = None
    glossaries: Sequence[Dictionary] = ()  # from other languages
    language: str = ENGLISH

    def cannot(self) -> set[str]:
        """The families that need what is not there."""
        return {
            *(() if self.language == ENGLISH else second.WEIGHTS),
            *(() if self.translators else ("translating",)),
            *(() if self.wordnet else second.NEED_WORDNET),
            *(() if self.glossaries else second.NEED_GLOSSARIES),
        }


def without_groups(leave_out: Collection[str]) -> list[str]:
    """Names of families, where some are those of `IMPLEMENTATIONS`."""
    return [family for name in leave_out for family in IMPLEMENTATIONS.get(name, (name,))]


class Made(NamedTuple):
    """A document for training."""

    family: str | None  # None: people wrote it
    text: MarkedText


class Families:
    """Makes documents, half of them honest."""

    def __init__(
        self,
        trusted: TrustedTexts,
        unusual_texts: TrustedTexts | None,
        words: Words,
        leave_out: Collection[str],
    ) -> None:
        """Raises `UserError` for a family to leave out that there is not, or where none is left."""
        leave_out = without_groups(leave_out)
        if unknown := sorted(set(leave_out) - set(WEIGHTS)):
            raise UserError(f"family {unknown[0]}: unknown; valid are {', '.join([*IMPLEMENTATIONS, *WEIGHTS])}")
        self._trusted = trusted
        self._unusual = unusual_texts
        self._makers = _without(leave_out, _makers(trusted, words))
        self._unusual_makers = _without(leave_out, _makers(unusual_texts, words)) if unusual_texts else {}
        if not self._makers:
            raise UserError("no family is left to generate documents from")

    def honest(self, random: Random) -> Made:
        """A passage that somebody wrote."""
        if self._unusual is not None and random.random() < _UNUSUAL_OF_HONEST:
            return Made(None, unusual(self._unusual.passage(random), random))
        text = posts(self._trusted, random) if random.random() < _POSTS else self._trusted.passage(random)
        made = unusual(text, random)
        return Made(None, framed(made, self._trusted, random) if random.random() < _FRAMED_OF_HONEST else made)

    def generated(self, random: Random) -> Made:
        """A document of one of the families."""
        use_unusual = self._unusual is not None and random.random() < _UNUSUAL_OF_GENERATED
        makers = self._unusual_makers if use_unusual else self._makers
        (name,) = random.choices(list(makers), [WEIGHTS[name] for name in makers])
        made = laid_out(makers[name](random), random)
        return Made(name, framed(made, self._trusted, random) if random.random() < _FRAMED_OF_GENERATED else made)


# Share of the documents that are of, or made of, unusual genres. They are made into others as well, or every text of
# such a genre would be taken for honest; less often than they are left alone, since a mistake there costs more.
_UNUSUAL_OF_HONEST, _UNUSUAL_OF_GENERATED = 0.25, 0.12
# Share of the other documents around which the frame of their page is left, and of those that are many posts.
_FRAMED_OF_HONEST, _FRAMED_OF_GENERATED, _POSTS = 0.25, 0.12, 0.15


def _without(leave_out: Collection[str], makers: Mapping[str, Make]) -> dict[str, Make]:
    return {name: make for name, make in makers.items() if name not in leave_out}


def _makers(trusted: TrustedTexts, words: Words) -> dict[str, Make]:
    chains, spinner = Chains(trusted), Spinner(words.thesaurus, words.language)
    made: dict[str, Make] = {
        "spinning": lambda random: spinner.spin(trusted.passage(random), random),
        "wrong_words": lambda random: wrong_words(trusted, random),
        "splicing": lambda random: spliced(trusted, random),
        "mixed_sentences": lambda random: mixed_sentences(trusted, random),
        "sentences_out_of_order": lambda random: sentences_out_of_order(trusted, random),
        "words_out_of_order": lambda random: words_out_of_order(trusted, random),
        "chains": chains.make,
        "templates": lambda random: stuffed_templates(trusted, random),
        "boilerplate": lambda random: boilerplate(trusted, random),
    }
    if words.translators:
        made["translating"] = lambda random: random.choice(words.translators).make(trusted, random)
    if words.language != ENGLISH:
        return made
    return made | second.second_makers(trusted, words.wordnet, words.glossaries)
