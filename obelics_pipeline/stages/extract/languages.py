"""The languages that a config names, and those that its model can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from obelics_pipeline.core.config import FiltersConfig, LanguageConfig, Threshold
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_id import LanguageModel
from obelics_pipeline.stages.bounded import Bounded, bounded

Named = tuple[str, str]  # a place of the config, and the language that it names there


def check_measured(filters: FiltersConfig, language: LanguageConfig) -> None:
    """Raise UserError as `check_languages` does, for scores that are measured of a document alone."""
    named = [("language.keep", code) for code in (language.keep if language.keep != "any" else ())]
    for level, thresholds in (("paragraph", filters.paragraph), ("document", filters.document)):
        named += [*_of_bounds(bounded(f"filters.{level}", thresholds)), *_of_lists(f"filters.{level}", thresholds)]
    _refuse_unknown(named, language)


def check_languages(scores: Iterable[Bounded], language: LanguageConfig) -> None:
    """Raise UserError for a language that the model never tells: what is said of it would never apply."""
    _refuse_unknown(list(_of_bounds(scores)), language)


def _refuse_unknown(named: Sequence[Named], language: LanguageConfig) -> None:
    valid = LanguageModel.load(language.model, language.model_sha256).languages() if named else frozenset()
    for place, code in named:
        if code not in valid:
            told = f"no language that {language.model} tells; valid are {', '.join(sorted(valid))}"
            raise UserError(f"{place}: {code[:80]!r} is {told}")


def _of_bounds(scores: Iterable[Bounded]) -> Iterator[Named]:
    for score in scores:
        yield from ((f"{score.place}.languages", code) for code in score.bounds.languages)


def _of_lists(section: str, thresholds: Mapping[str, Threshold]) -> Iterator[Named]:
    """The word lists by language, which filters take as `paths`."""
    for name, threshold in thresholds.items():
        paths = threshold.options.get("paths")
        if isinstance(paths, Mapping):
            yield from ((f"{section}.{name}.options.paths", str(code)) for code in paths)
