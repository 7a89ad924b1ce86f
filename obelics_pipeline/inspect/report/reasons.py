"""The words of ledgers in words for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from obelics_pipeline.stages.stage import Stage

_FILTERS = {
    "not_finite": "a filter or a model gave no finite number for it; is the model damaged, or its dtype too short?",
    "word_count": "too few or too many words",
    "character_repetition_ratio": "the same runs of characters again and again",
    "word_repetition_ratio": "the same runs of words again and again",
    "special_character_ratio": "too many signs that are no letters",
    "stopword_ratio": "too few of the small words that sentences have",
    "flagged_word_ratio": "too many words of the list of obscene words",
    "punctuation_ratio": "too few or too many marks of punctuation",
    "farm_score": "reads as a program wrote it",
    "perplexity": "unlike the text that the language model knows",
    "quality_score": "unlike the texts that are wanted",
}


def words_of(stages: Sequence[Stage]) -> dict[str, str]:
    """The meanings of the reasons that stages and filters describe."""
    return _FILTERS | {reason: words for stage in stages for reason, words in stage.reasons.items()}


def words_for(reason: str, known: Mapping[str, str]) -> str:
    """The meaning of a reason; empty if the name explains itself, or for a filter of a user's own. `known`: see
    `words_of`.
    """
    if reason in known:
        return known[reason]
    if reason.startswith("http_") and reason[5:].isdigit():
        return f"the server answered {reason[5:]}"
    if reason == "opt_out_unanswered":
        return "the opt-out service gave no answer about it"
    if reason.startswith("opt_out_"):
        return f"opted out, by the list or service {reason.removeprefix('opt_out_')}"
    if reason.endswith("_header"):
        return f"the site asks for it by an HTTP header: {reason.removesuffix('_header')}"
    if reason.endswith("_unit_failed"):
        return f"was in a unit that failed in the stage {reason.removesuffix('_unit_failed')}"
    if reason.startswith(("extraction_error_", "measuring_error_")):
        return "an error of this program, or of a filter; please report it"
    return ""
