"""The rules that can be tuned at each level, with their bounds and their effect, as values for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.filtering import Bounds, LanguageBounds
from obelics_pipeline.inspect.tune.documents import Mask, Numbers
from obelics_pipeline.inspect.tune.images import Images
from obelics_pipeline.inspect.tune.measured import Measured
from obelics_pipeline.inspect.tune.paragraphs import Paragraphs
from obelics_pipeline.inspect.tune.rules import TunedRule
from obelics_pipeline.inspect.tune.tallies import tallies

LEVELS = ("document", "paragraph", "image", "dedup")

# Of images: the score that a threshold is on, the side, and the key of the config's section `images`.
IMAGE_BOUNDS = (
    ("shorter_side", "min", "min_side"),
    ("longer_side", "max", "max_side"),
    ("ratio", "min", "min_ratio"),
    ("ratio", "max", "max_ratio"),
)
# Of the whole corpus: the key of the config, what it is, and the reason of what it drops. Only a dry run can tell.
CORPUS = (
    ("dedup.text.threshold", "similarity of two texts from which they are near duplicates", "duplicate_text"),
    ("dedup.paragraphs.min_count", "pages of a host from which a paragraph is a repetition", "repeated_paragraph"),
    ("dedup.images.url_max", "documents that may use one image URL", "overused_image_url"),
    ("dedup.images.phash_max", "documents that may show images that look the same", "overused_image"),
    (
        "dedup.image_set.min_images",
        "images from which two documents with the same ones are duplicates",
        "duplicate_image_set",
    ),
)


def document_level(rules: Sequence[TunedRule]) -> list[dict[str, Any]]:
    """The rules of whole documents, in order."""
    found = []
    for rule in rules:
        single = rule.place == "language.min_score"  # not a section of bounds, but a number
        found.append(
            {"name": rule.name, "place": rule.place, "stage": rule.stage, "single": single, **_of(rule.bounds)}
        )
    return found


def paragraph_level(config: RunConfig) -> list[dict[str, Any]]:
    """The rules of paragraphs, in order."""
    return [
        {"name": n, "place": f"filters.paragraph.{n}", "roles": t.roles, "single": False, **_of(t)}
        for n, t in config.filters.paragraph.items()
    ]


def image_level(config: RunConfig) -> list[dict[str, Any]]:
    """The thresholds of images: one side of one fact each, then the bounds of what was measured of them."""
    facts = [
        {"name": score, "place": f"images.{key}", "single": True, side: getattr(config.images, key)}
        for score, side, key in IMAGE_BOUNDS
    ]
    measures = [
        {"name": name, "place": place, "single": False, "languages": {}, "genres": [], **_plain(bounds)}
        for name, place, bounds in _measures(config)
    ]
    return [*facts, *measures]


def corpus_level(config: RunConfig) -> list[dict[str, Any]]:
    """The settings whose effect only a dry run can tell."""
    values = config.model_dump(mode="json")
    return [
        {"place": place, "what": what, "reason": reason, "value": _at(values, place)} for place, what, reason in CORPUS
    ]


def paragraph_counts(paragraphs: Paragraphs, config: RunConfig) -> list[dict[str, Any]]:
    """The effect of each rule of paragraphs: how many it measured, would drop, drops first, and drops alone."""
    rules = config.filters.paragraph
    failing = [paragraphs.fails(name, threshold) for name, threshold in rules.items()]
    return list(_counts(rules, failing, [paragraphs.scores.get(name) for name in rules], paragraphs.bytes))


def image_counts(images: Images, config: RunConfig) -> list[dict[str, Any]]:
    """The same of the thresholds of images, as `image_level` lists them."""
    scores = [images.scores[score] for score, _, _ in IMAGE_BOUNDS]
    limits = [getattr(config.images, key) for _, _, key in IMAGE_BOUNDS]
    with np.errstate(invalid="ignore"):
        failing = [
            values < limit if side == "min" else values > limit
            for values, limit, (_, side, _) in zip(scores, limits, IMAGE_BOUNDS, strict=True)
        ]
    measures = list(_measures(config))
    names = [*(score for score, _, _ in IMAGE_BOUNDS), *(name for name, _, _ in measures)]
    failing += [images.outside(name, bounds) for name, _, bounds in measures]
    scores += [images.of(name) for name, _, _ in measures]
    return list(_counts(names, failing, scores, images.scores["bytes"]))


def _measures(config: RunConfig) -> Iterator[tuple[str, str, Bounds]]:
    """What is measured of images, by pixels and by models: name, place of its bounds in the config, bounds."""
    yield from ((name, f"images.quality.{name}", bounds) for name, bounds in config.images.quality.items())
    for name in config.score.picture_measures:
        yield name, f"score.image.{name}", config.score.image.get(name, Bounds())


def values_of(measured: Measured, level: str, name: str) -> tuple[Numbers, Mask, NDArray[np.int64]]:
    """The scores of a level, which are of what is kept, and the row of the document of each. Raises KeyError."""
    documents = measured.documents
    if level == "document":
        return documents.scores[name], documents.kept, np.arange(len(documents))
    of_it = measured.paragraphs if level == "paragraph" else measured.images
    return of_it.scores[name], of_it.kept, of_it.document


def _counts(
    names: Iterable[str], failing: list[Mask], scores: Sequence[Numbers | None], worth: NDArray[Any]
) -> Iterator[dict[str, Any]]:
    for name, fails, values, tally in zip(names, failing, scores, tallies(failing), strict=True):
        yield {
            "name": name,
            "measured": 0 if values is None else int(np.count_nonzero(~np.isnan(values))),
            **vars(tally),
            "bytes": float(np.nansum(worth[fails])),
        }


def _of(bounds: LanguageBounds) -> dict[str, Any]:
    languages = {code: None if of_it is None else _plain(of_it) for code, of_it in bounds.languages.items()}
    return {**_plain(bounds), "languages": languages, "genres": sorted(bounds.genres)}


def _plain(bounds: Bounds) -> dict[str, Any]:
    return {name: getattr(bounds, name) for name in ("min", "max", "below", "sample")}


def _at(values: Mapping[str, Any], place: str) -> Any:
    for key in place.split("."):
        values = values[key]
    return values
