"""A filter with its threshold: what decides, and where it applies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from typing import Any, NamedTuple

from obelics_pipeline.core.config.filtering import Bounds, Threshold
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.measuring import Filter
from obelics_pipeline.filters.registry import make
from obelics_pipeline.filters.text import Text

END_OF_DOCUMENT = "end_of_document"  # the role of the reference's marker: exempt from every paragraph filter


class Check(NamedTuple):
    """A rule as it is applied: plain numbers, since a page has hundreds of scores to compare."""

    name: str
    score: Callable[[Text], float | None]
    low: float  # inclusive
    high: float  # inclusive
    below: float | None  # exclusive


class Rule(NamedTuple):
    """One entry of the config's `filters.paragraph` or `filters.document`."""

    name: str
    filter: Filter
    threshold: Threshold


def build_rules(thresholds: Mapping[str, Threshold], place: str) -> list[Rule]:
    """The rules of one mapping of the config, in its order; `place` ("paragraph" or "document") is for the messages.

    Raises `UserError` for an unknown filter or option, and for a filter that makes no sense for paragraphs.
    """
    rules = [
        Rule(name, make(name, threshold.options, threshold.use), threshold) for name, threshold in thresholds.items()
    ]
    for rule in rules:
        if place == "paragraph" and getattr(rule.filter, "documents_only", False):
            raise UserError(f"filters.paragraph.{rule.name}: measures documents only; move it to filters.document")
        if place == "paragraph" and _takes_a_sample(rule.threshold):
            raise UserError(f"filters.paragraph.{rule.name}.sample: is for documents only; move it to filters.document")
        if place == "paragraph" and rule.threshold.genres:
            raise UserError(f"filters.paragraph.{rule.name}.genres: a paragraph has no genre; it is for documents only")
        if place == "document" and rule.threshold.roles is not None:
            raise UserError(f"filters.document.{rule.name}.roles: a document has no role; it is for paragraphs only")
    return rules


def _takes_a_sample(threshold: Threshold) -> bool:
    elsewhere = (*threshold.languages.values(), *threshold.genres.values())
    return any(bounds is not None and bounds.sample for bounds in (threshold, *elsewhere))


class ParagraphRules:
    """The rules that paragraphs of one language meet; made once per language."""

    def __init__(self, rules: Sequence[Rule], language: str | None, segment: bool) -> None:
        self._language = language
        self._segment = segment
        self._rules = [(rule, bounds) for rule in rules if (bounds := rule.threshold.bounds_for(language)) is not None]
        self._by_role: dict[str, list[Check]] = {END_OF_DOCUMENT: []}

    def judge(self, node: TextNode, everything: bool = False) -> Text:
        """Measure a paragraph up to its first failing rule, which becomes its reason; or by every rule.

        Returns its text, which by then knows its words.
        """
        text = Text(node.text, self._language, segment=self._segment)
        scores = node.scores
        for name, score, low, high, below in self._checks(node.role):
            value = score(text)
            if value is None:
                continue
            scores[name] = value
            kept = low <= value <= high and (below is None or value < below)
            if not kept and node.reason is None:
                node.reason = name
                if not everything:
                    return text
        return text

    def _checks(self, role: str) -> list[Check]:
        checks = self._by_role.get(role)
        if checks is None:
            checks = self._by_role[role] = [
                _check(rule, bounds)
                for rule, bounds in self._rules
                if rule.threshold.roles is None or role in rule.threshold.roles
            ]
        return checks


def _check(rule: Rule, bounds: Bounds) -> Check:
    low = -inf if bounds.min is None else bounds.min
    high = inf if bounds.max is None else bounds.max
    return Check(rule.name, rule.filter.score, low, high, bounds.below)


def paragraph_score(name: str, text: str, language: str | None, options: Mapping[str, Any]) -> float | None:
    """Measure one paragraph by a filter's name; words are split at spaces."""
    return _built(name, json.dumps(options, sort_keys=True)).score(Text(text, language))


@cache
def _built(name: str, options: str) -> Filter:
    return make(name, json.loads(options))
