"""Fitting the detector of exchanged words: `obelics fit wording-detector`."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.families import IMPLEMENTATIONS, WEIGHTS, without_groups
from obelics_pipeline.fit.farm_detector.judging import (
    Growth,
    fit_forest,
    make_judged,
    recalls,
    say_recalls_left_out,
    scores_of_unseen,
    threshold_of,
)
from obelics_pipeline.fit.farm_detector.sources import Sources
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.training import load_lightgbm
from obelics_pipeline.fit.wording_detector.counting import count_habits
from obelics_pipeline.models.forest import NODE, Forest, score_of
from obelics_pipeline.models.wording_detector.detector import WordingDetector

# With families that exchange words for synonyms too, less was found of families that were left out.
LEARNED = ("translating", "words_out_of_order", "glossing")
WORDS, PAIRED = 3000, 2000  # known words, and those whose pairs are: tables of half a megabyte
GROWTH = Growth(200, {"num_leaves": 7, "learning_rate": 0.05, "lambda_l2": 10, "min_data_in_leaf": 60})
NO_FOREST = Forest((), np.zeros(0, NODE), np.zeros(0, np.int32))


def fit_wording_detector(sources: Sources, output: Path, documents: int, say: Say) -> None:
    """Count words in some of the texts, fit a forest on documents made of the others, tell what it finds, and write it.

    It learns from the families `LEARNED` without those that the sources leave out; all others judge. Raises UserError,
    in one line, for what the person can mend.
    """
    load_lightgbm()
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")
    given = without_groups(sources.leave_out)
    if unknown := sorted(set(given) - set(WEIGHTS)):
        raise UserError(f"family {unknown[0]}: unknown; valid are {', '.join([*IMPLEMENTATIONS, *WEIGHTS])}")
    learned = [name for name in LEARNED if name not in given]
    material = replace(sources, leave_out=[name for name in WEIGHTS if name not in learned]).load(say)
    _, families = material.parted_families()
    counted = [*material.texts.network, *material.unusual.network]
    say(f"{len(counted)} texts to count words in, {len(material.texts.forest)} set aside for the forest")
    bare = WordingDetector(count_habits(counted, WORDS, PAIRED), NO_FOREST, {})
    judged = make_judged(bare, families, documents)
    scores = scores_of_unseen(judged, GROWTH)
    found = list(recalls(judged, scores))
    for family, count, recall in found:
        say(f"{family}: {recall:.3f} of {count} found where 1 % of the honest texts are taken for generated")
    detector = replace(bare, forest=fit_forest(judged, GROWTH))
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
    say(f"wrote {output}: {len(detector.habits.words)} words, threshold {about['threshold']}")
