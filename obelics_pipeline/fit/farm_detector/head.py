"""A detector that learns from some families and is judged by the others: its forest, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.families import IMPLEMENTATIONS, WEIGHTS, Families, without_groups
from obelics_pipeline.fit.farm_detector.judging import (
    Growth,
    Judge,
    Makes,
    fit_forest,
    make_judged,
    recalls,
    say_recalls_left_out,
    scores_of_unseen,
    threshold_of,
)
from obelics_pipeline.fit.farm_detector.sources import Sources
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.training import load_lightgbm
from obelics_pipeline.models.forest import NODE, Forest, score_of

NO_FOREST = Forest((), np.zeros(0, NODE), np.zeros(0, np.int32))


def _as_they_are(families: Families, _texts: TrustedTexts) -> Makes:
    return families


class Head(Judge, Protocol):
    """A detector that can be written."""

    def save(self, path: Path) -> None:
        """Write it."""


Made = TypeVar("Made", bound=Head)


@dataclass(frozen=True)
class Recipe(Generic[Made]):
    """What makes a detector of texts, with `NO_FOREST`, which families its forest learns from, and how that grows."""

    bare: Callable[[Sequence[str]], Made]
    learned: Sequence[str]
    growth: Growth
    with_own: Callable[[Families, TrustedTexts], Makes] = (
        _as_they_are  # adds families of its own, made of trusted texts
    )


def fit_head(recipe: Recipe[Made], sources: Sources, output: Path, documents: int, say: Say) -> None:
    """Make a detector of some of the texts and its forest of the others, tell what it finds, and write it.

    It learns from the families of the recipe without those that the sources leave out; all others judge. Raises
    UserError, in one line, for what the person can mend.
    """
    load_lightgbm()
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")
    given = without_groups(sources.leave_out)
    if unknown := sorted(set(given) - set(WEIGHTS)):
        raise UserError(f"family {unknown[0]}: unknown; valid are {', '.join([*IMPLEMENTATIONS, *WEIGHTS])}")
    learned = [name for name in recipe.learned if name not in given]
    material = replace(sources, leave_out=[name for name in WEIGHTS if name not in learned]).load(say)
    _, families = material.parted_families()
    counted = [*material.texts.network, *material.unusual.network]
    say(f"{len(counted)} texts to learn words of, {len(material.texts.forest)} set aside for the forest")
    bare = recipe.bare(counted)
    farms = recipe.with_own(families, TrustedTexts(material.texts.forest, sources.language))
    judged = make_judged(bare, farms, documents)
    scores = scores_of_unseen(judged, recipe.growth)
    found = list(recalls(judged, scores))
    for family, count, recall in found:
        say(f"{family}: {recall:.3f} of {count} found where 1 % of the honest texts are taken for generated")
    made: Any = bare
    detector = replace(made, forest=fit_forest(judged, recipe.growth))
    threshold = threshold_of(scores[~judged.generated])
    not_seen = say_recalls_left_out(threshold, detector, material.left_out(), documents, say)
    about = {
        "threshold": score_of(int(threshold)),
        "recall": {family: round(recall, 4) for family, _, recall in found},
        "recall_left_out": not_seen,
        "documents": documents,
        **material.description(),
        "versions": {name: version(name) for name in ("lightgbm", "numpy")},
    }
    try:
        replace(detector, about=about).save(output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    say(f"wrote {output}: threshold {about['threshold']}")
