"""The scores that can be asked for by name, and what measures them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import filters
from obelics_pipeline.config import FiltersConfig, RunConfig, Threshold
from obelics_pipeline.document import Document
from obelics_pipeline.errors import Stopped, UserError
from obelics_pipeline.extract.measure import LANGUAGE, LANGUAGE_SCORE, Measurer
from obelics_pipeline.score.row_error import NO_TEXT, SCORE_FAILED, RowError

Value = float | str | None
Scores = dict[str, Value]  # by column
NO_IMAGES = "none"  # of --images


@dataclass(frozen=True)
class ModelScore:
    """A score by a model over documents with their images: its columns, and how a worker process makes it.

    `make` is given the config and the place of the images as --images says it. What it makes is given the documents of
    a batch and returns the values of `columns` of each; it decides by itself how images come into memory.
    """

    columns: tuple[str, ...]
    make: Callable[[RunConfig, str], Callable[[Sequence[Document]], Sequence[Mapping[str, float | None]]]]


# Here a score by a model is plugged in: its name in --columns -> ModelScore.
MODEL_SCORES: dict[str, ModelScore] = {}


@dataclass(frozen=True)
class Asked:
    """What to measure: names as in --columns, the config as JSON, and where images are. Picklable and hashable."""

    names: tuple[str, ...]
    config: str
    images: str = NO_IMAGES

    def columns(self) -> list[str]:
        """The columns that the names stand for, in their order."""
        return [c for name in self.names for c in (MODEL_SCORES[name].columns if name in MODEL_SCORES else (name,))]

    def scorer(self) -> Scorer:
        """What measures all that; made once per process. Raises UserError for what is missing."""
        return _scorer(self)


def ask(names: Sequence[str], config: RunConfig, images: str = NO_IMAGES) -> Asked:
    """Check what is asked for; no name stands for every document filter of the config. Raises UserError."""
    names = list(dict.fromkeys(names)) or list(config.filters.document)
    if not names:
        raise UserError("--columns: the config has no filters.document, so name the scores; " + _valid())
    for name in names:
        if name not in _names():
            near = difflib.get_close_matches(name, _names(), n=1)
            raise UserError(f"--columns {name}: unknown; {_valid()}" + (f"; did you mean {near[0]}?" if near else ""))
    if images != NO_IMAGES and not any(name in MODEL_SCORES for name in names):
        raise UserError(f"--images {images}: none of the columns looks at images ({', '.join(names)}); leave it out")
    return Asked(tuple(names), config.model_dump_json(), images)


def is_text(column: str) -> bool:
    """Whether a column holds strings; all others hold floats."""
    return column == LANGUAGE


def _names() -> list[str]:
    return [LANGUAGE, *filters.names(), *MODEL_SCORES]


def _valid() -> str:
    return f"valid names: {', '.join(_names())}"


class Scorer:
    """Measures documents as a run with this config does, but for its paragraph filters: the documents are made."""

    def __init__(self, asked: Asked) -> None:
        config = RunConfig.model_validate_json(asked.config)
        measured = [name for name in asked.names if name not in (LANGUAGE, LANGUAGE_SCORE, *MODEL_SCORES)]
        options = {name: t.options for name, t in config.filters.document.items()}
        self._measurer = Measurer(
            FiltersConfig(
                words=config.filters.words,
                standardize_whitespace=config.filters.standardize_whitespace,
                paragraph={},
                document={name: Threshold(options=options.get(name, {})) for name in measured},
            ),
            config.language,
        )
        self._columns = asked.columns()
        self._models = [MODEL_SCORES[name].make(config, asked.images) for name in asked.names if name in MODEL_SCORES]

    def notices(self) -> list[str]:
        """One line per score that is null everywhere, because what it needs is not given."""
        return self._measurer.notices()

    def score(self, documents: Sequence[Document | RowError]) -> list[Scores | RowError]:
        """The scores of each document of a batch, or why it has none: what came as an error stays one."""
        found = [d if isinstance(d, RowError) else self._measured(d) for d in documents]
        both = zip(documents, found, strict=True)
        good = [(d, x) for d, x in both if isinstance(d, Document) and isinstance(x, dict)]
        for model in self._models:
            for (_, scores), more in zip(good, model([document for document, _ in good]), strict=True):
                scores.update(more)
        return [x if isinstance(x, RowError) else self._checked(x) for x in found]

    def _measured(self, document: Document) -> Scores | RowError:
        try:
            self._measurer.measure(document, everything=True)
        except (UserError, Stopped):
            raise
        except Exception as error:  # a filter, maybe of another package, at untrusted text
            return RowError(SCORE_FAILED, f"{type(error).__name__}: {' '.join(str(error).split())}"[:200])
        if document.language is None:
            return RowError(NO_TEXT, "no visible character")
        return {LANGUAGE: document.language, **document.scores}

    def _checked(self, scores: Scores) -> Scores | RowError:
        checked: Scores = {}
        for name in self._columns:
            value = scores.get(name)
            if value is not None and not is_text(name):
                try:
                    value = float(value)
                except (TypeError, ValueError):
                    return RowError(SCORE_FAILED, f"{name} gave {value!r}"[:200])
                if not math.isfinite(value):
                    return RowError(SCORE_FAILED, f"{name} gave {value}")
            checked[name] = value
        return checked


@lru_cache(maxsize=1)
def _scorer(asked: Asked) -> Scorer:
    return Scorer(asked)
