"""Measure a document, then decide: language, paragraph filters, document filters, in that order.

A score is stored; a threshold is applied to it. A document's scores are null from its first drop on, so a changed
threshold of a document is applied to what is stored, and only the nulls it needs are measured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config import FiltersConfig, LanguageConfig, RunConfig, Threshold
from obelics_pipeline.core.config.consent import LicenceConfig
from obelics_pipeline.core.document import Document, TextNode, kept_texts, refuse_not_finite
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.genre import bounds_of
from obelics_pipeline.filters.own import refuse_registered
from obelics_pipeline.filters.rule import ParagraphRules, Rule, build_rules
from obelics_pipeline.filters.sampling import keeps
from obelics_pipeline.filters.spans import Span
from obelics_pipeline.filters.text import Text
from obelics_pipeline.filters.whitespace import standardize_whitespace
from obelics_pipeline.models.language_id import LanguageModel, model_path
from obelics_pipeline.policy.opt_outs.licence_id import allowed
from obelics_pipeline.stages.extract.languages import check_measured
from obelics_pipeline.stages.extract.spans import spans_by_node

LANGUAGE = "language"  # reason: not one of the languages to keep
LANGUAGE_SCORE = "language_score"  # score, and reason: the language model is not sure enough
NO_LICENCE = "no_licence"  # reason: the page names none, and the config requires one
LICENCE_NOT_ALLOWED = "licence_not_allowed"  # reason: it names one that is none of those required
EMPTY = "empty"  # reason of a paragraph without a visible character
NO_TEXT = "no_text"  # reason of a document without a paragraph
_FIRST = (NO_LICENCE, LICENCE_NOT_ALLOWED, LANGUAGE, LANGUAGE_SCORE)


class Measurer:
    """Applies the filters of one config; loads models and word lists once, so keep it for a whole unit.

    Raises `UserError` when made, for anything the config names that is unknown, missing or unreadable.
    """

    def __init__(self, filters: FiltersConfig, language: LanguageConfig, licence: LicenceConfig | None = None) -> None:
        self._config = filters
        self._language = language
        self._licence = licence or LicenceConfig()
        self._model = LanguageModel.load(language.model, language.model_sha256)
        check_measured(filters, language)
        self._segment = filters.words == "segments"
        self._paragraph = build_rules(filters.paragraph, "paragraph")
        self._document = build_rules(filters.document, "document")
        self._by_language: dict[str | None, ParagraphRules] = {}

    def notices(self) -> list[str]:
        """One line per filter that the config names without what it needs, and that therefore drops nothing."""
        rules = [("paragraph", r) for r in self._paragraph] + [("document", r) for r in self._document]
        return [
            f"filters.{place}.{rule.name} is not applied: {reason}"
            for place, rule in rules
            if (reason := getattr(rule.filter, "not_applied", None)) is not None
        ]

    def measure(self, document: Document, everything: bool = False) -> None:
        """Set language, scores and reasons of a document fresh from a page, up to its first drop.

        `everything` measures on after a drop, for the paragraphs as well; the reasons are the same.
        """
        if self.identify(document):
            self.judge(document, everything)

    def identify(self, document: Document) -> bool:
        """The first half of `measure`: the language, and what is decided by it. Whether there is a text to `judge`."""
        document.scores |= dict.fromkeys([LANGUAGE_SCORE, *self._config.document])
        self._clean(document)
        text = document.text()
        if not text:
            document.reason = document.reason or NO_TEXT
            return False
        document.language, document.scores[LANGUAGE_SCORE] = self._model.predict(text, self._language.max_characters)
        refuse_not_finite(document, [LANGUAGE_SCORE])
        document.reason = document.reason or self._first_reason(document)
        return True

    def judge(self, document: Document, everything: bool = False) -> None:
        """The second half of `measure`: the filters, of a document whose language is known."""
        if document.reason is None or everything:
            self._judge_document(document, self._judge_paragraphs(document, everything), everything)

    def reasons(self, document: Document) -> dict[str, list[tuple[str, ...]]]:
        """The reasons that document filters give for their scores: rows of words, by filter.

        A filter gives reasons by a method `reasons(text)`; few have one. The document must be measured.
        """
        text = self._document_text(document, [])
        told = {
            rule.name: list(tell(text))
            for rule in self._document
            if (tell := getattr(rule.filter, "reasons", None)) and document.scores.get(rule.name) is not None
        }
        return {name: rows for name, rows in told.items() if rows}

    def spans(self, document: Document, name: str) -> list[list[Span]]:
        """The characters that made the score of a document filter: a list of (begin, end) for each kept paragraph.

        A filter gives them by a method `spans(text)`; without it all lists are empty. Raises `UserError` for a name
        that is not a document filter of the config.
        """
        rule = _named(self._document, name, "document")
        return spans_by_node(kept_texts(document.nodes), _spans(rule, self._document_text(document, [])))

    def paragraph_spans(self, node: TextNode, language: str | None, name: str) -> list[Span]:
        """The same of a paragraph filter and one paragraph, kept or not, of a document in that language."""
        return _spans(_named(self._paragraph, name, "paragraph"), Text(node.text, language, segment=self._segment))

    def decide(self, document: Document, everything: bool = False) -> None:
        """Apply the thresholds of documents to a measured document again, measuring only the scores that are missing.

        The paragraph filters and whatever else `measurement_config` holds must be those that it was measured with, and
        `everything` is as it was then. A reason that another step gave stays.
        """
        if document.reason is not None and not self._is_ours(document):
            return
        for name in self._config.document:
            document.scores.setdefault(name, None)
        document.reason = self._first_reason(document)
        if everything:
            self._judge_document(document, [], everything)
            return
        if document.reason is None:
            kept: list[Text] = []
            if all(document.scores[name] is None for name in self._config.document):
                kept = self._judge_paragraphs(document, everything=False)  # it was dropped before; else they are judged
            self._judge_document(document, kept, everything=False)
        self._forget_beyond_drop(document)

    def measure_again(self, document: Document, everything: bool = False) -> None:
        """Measure and decide again a kept document whose paragraphs or images became fewer; its language stays."""
        document.scores.update(dict.fromkeys(self._config.document))
        if not document.text():
            document.reason = NO_TEXT
        else:
            self._judge_document(document, [], everything)

    def _forget_beyond_drop(self, document: Document) -> None:
        """A document that is dropped earlier than before is what a fresh measurement would leave of it."""
        names = list(self._config.document)
        if document.reason in _FIRST:
            beyond = names
            for node in document.nodes:
                if isinstance(node, TextNode) and node.reason in self._config.paragraph:
                    node.reason = None
                if isinstance(node, TextNode):
                    node.scores = {}
        else:
            beyond = names[names.index(document.reason) + 1 :] if document.reason in names else []
        for name in beyond:
            document.scores[name] = None

    def _is_ours(self, document: Document) -> bool:
        """Whether a threshold of documents dropped it, one of this config or of the one it was measured with."""
        return document.reason in _FIRST or document.reason in document.scores

    def _clean(self, document: Document) -> None:
        for node in kept_texts(document.nodes):
            if self._config.standardize_whitespace:
                node.text = standardize_whitespace(node.text)
            if not node.text or node.text.isspace():
                node.reason = EMPTY

    def _first_reason(self, document: Document) -> str | None:
        """What is decided before anything else of a document is measured."""
        return self._licence_reason(document.general) or self._language_reason(document)

    def _licence_reason(self, general: Mapping[str, Any]) -> str | None:
        required, sources = self._licence.require, self._licence.sources
        if required is None:
            return None
        found = general.get("licence")
        if found is None or (sources is not None and general.get("licence_source") not in sources):
            return NO_LICENCE
        every = all(allowed(name, frozenset(required)) for name in general.get("licences", [found]))
        return None if every else LICENCE_NOT_ALLOWED

    def _language_reason(self, document: Document) -> str | None:
        if self._language.keep != "any" and document.language not in self._language.keep:
            return LANGUAGE
        score = document.scores.get(LANGUAGE_SCORE)
        return LANGUAGE_SCORE if score is not None and score < self._language.min_score else None

    def _judge_paragraphs(self, document: Document, everything: bool) -> list[Text]:
        """The texts of the paragraphs that are kept."""
        language = document.language
        rules = self._by_language.get(language)
        if rules is None:
            rules = self._by_language[language] = ParagraphRules(self._paragraph, language, self._segment)
        judged = [(node, rules.judge(node, everything)) for node in kept_texts(document.nodes)]
        return [text for node, text in judged if node.reason is None]

    def _document_text(self, document: Document, kept: Sequence[Text]) -> Text:
        return Text(document.text(), document.language, segment=self._segment, document=document, paragraphs=kept)

    def _judge_document(self, document: Document, kept: Sequence[Text], everything: bool) -> None:
        """Walk the document filters in the config's order, up to the first that fails.

        `kept` are the texts of the kept paragraphs where they are at hand: their words are the document's.
        """
        text: Text | None = None
        for name, measuring, threshold in self._document:
            value = document.scores[name]
            if value is None:
                text = text or self._document_text(document, kept)
                value = document.scores[name] = measuring.score(text)
            bounds = bounds_of(threshold, document)
            if not refuse_not_finite(document, [name]):
                if value is None or bounds is None or keeps(bounds, value, name, document.doc_id):
                    continue
                document.reason = document.reason or name
            if not everything:
                return


def _named(rules: Sequence[Rule], name: str, place: str) -> Rule:
    for rule in rules:
        if rule.name == name:
            return rule
    valid = ", ".join(rule.name for rule in rules) or "none, the config has no such filter"
    raise UserError(f"filters.{place}: {name} is no filter of this config; valid names: {valid}")


def _spans(rule: Rule, text: Text) -> list[Span]:
    tell = getattr(rule.filter, "spans", None)
    return list(tell(text)) if tell else []


def score_names(config: RunConfig) -> list[str]:
    """The columns of floats that a measured document has, in order."""
    return list(dict.fromkeys([LANGUAGE_SCORE, *config.personal_data.columns, *config.filters.document]))


def measurement_config(config: RunConfig) -> dict[str, Any]:
    """All that a score or a kept paragraph depends on: if this changes, the page must be measured again.

    Word lists and models count by their content, a user's own filters by their source, libraries that bring such data
    by their version. Raises `UserError` for a filter that worker processes do not have.
    """
    filters, language = config.filters, config.language
    refuse_registered([*filters.paragraph, *filters.document])
    paragraph = build_rules(filters.paragraph, "paragraph")
    document = build_rules(filters.document, "document")
    return {
        "language": [language.max_characters, _sha256(str(model_path(language.model)))],
        "words": filters.words,
        "standardize_whitespace": filters.standardize_whitespace,
        "paragraph": [[name, threshold.model_dump(mode="json")] for name, threshold in filters.paragraph.items()],
        "document": [_measured_by(name, filters.document[name]) for name in sorted(filters.document)],
        "files": sorted([Path(path).name, _sha256(path)] for path in _files([*paragraph, *document])),
        "libraries": {name: version(name) for name in ("icu4py", "publicsuffixlist", "stopwordsiso")},
    }


def decision_config(config: RunConfig) -> dict[str, Any]:
    """The part of the config that only decides. If nothing else changes, stored scores are judged again and no page is
    read.
    """
    licence = config.consent.licence
    required = {} if licence.require is None else {"licence": [sorted(licence.require), sorted(licence.sources or ())]}
    return required | {
        "keep": config.language.keep if config.language.keep == "any" else sorted(set(config.language.keep)),
        "min_score": config.language.min_score,
        "document": [[name, _bounds(threshold)] for name, threshold in config.filters.document.items()],
    }


def _measured_by(name: str, threshold: Threshold) -> list[Any]:
    own = [] if threshold.use is None else [threshold.use.name, threshold.use.sha256]
    return [name, threshold.options, *own]


def _bounds(threshold: Threshold) -> Mapping[str, Any]:
    return threshold.model_dump(mode="json", exclude={"options", "roles", "use"})


def _files(rules: Sequence[Rule]) -> list[str]:
    """The files that filters say their scores depend on."""
    found = {str(path) for rule in rules for path in getattr(rule.filter, "files", list)()}
    return sorted(found)


@cache
def _sha256(path: str) -> str:
    with Path(path).expanduser().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
