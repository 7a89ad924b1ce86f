"""Fitting the detector of generated text: `obelics fit detector`."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.families import Families
from obelics_pipeline.fit.farm_detector.judging import (
    fit_forest,
    make_judged,
    recalls,
    recalls_without_each,
    say_recalls_left_out,
    scores_of_unseen,
    threshold_of,
)
from obelics_pipeline.fit.farm_detector.sources import Material, Sources
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.training import load_lightgbm
from obelics_pipeline.models.farm_detector.detector import Detector
from obelics_pipeline.models.forest import NODE, Forest, score_of

_OF_A_NETWORK = ("steps", "families", "trusted", "unusual", "words", "versions")  # what is told of how it was made
NO_FOREST = Forest((), np.zeros(0, NODE), np.zeros(0, np.int32))


def fit_detector(
    sources: Sources,
    output: Path,
    language: str,
    steps: int,
    documents: int,
    threads: int,
    say: Say,
    *,
    words: int,
    channels: int,
    forest_without_each: bool = False,
    keep: Path | None = None,
) -> None:
    """Fit a detector on texts that people wrote and what is made of them, tell what it is worth, and write it.

    `forest_without_each` tells more of it, at the cost of a forest for each family, and writes the same. `keep` is a
    detector whose vocabulary and network are kept, so that only the forest is fitted.
    Raises UserError, in one line, for what the person can mend.
    """
    load_lightgbm()
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")
    if keep is None:
        material, bare, families = _train(sources, language, steps, words, channels, threads, say)
    else:
        material, bare, families = _kept(sources, Detector.load(keep), say)
    judged = make_judged(bare, families, documents)
    scores = scores_of_unseen(judged)
    found = list(recalls(judged, scores))
    for family, count, recall in found:
        say(f"{family}: {recall:.3f} of {count} found where 1 % of the honest texts are taken for generated")
    for family, count, recall in recalls_without_each(judged) if forest_without_each else ():
        say(f"{family}: {recall:.3f} of {count} found by a forest that saw none of it")
    detector = replace(bare, forest=fit_forest(judged))
    threshold = threshold_of(scores[~judged.generated])
    not_seen = say_recalls_left_out(threshold, detector, material.left_out(), documents, say)
    about = {
        "threshold": score_of(int(threshold)),
        "recall": {family: round(recall, 4) for family, _, recall in found},
        "recall_left_out": not_seen,
        **bare.about,
        "documents": documents,
        **material.description(),
        "versions": {name: version(name) for name in ("lightgbm", "numpy", *(() if keep else ("torch",)))},
    }
    detector = replace(detector, about=about)
    try:
        detector.save(output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    say(
        f"wrote {output}: {len(detector.vocabulary.words)} words, {len(detector.forest.roots)} trees, "
        f"threshold {about['threshold']}"
    )


def _train(
    sources: Sources, language: str, steps: int, words: int, channels: int, threads: int, say: Say
) -> tuple[Material, Detector, Families]:
    """What was read, a detector without a forest, and what makes the documents for one."""
    try:
        from obelics_pipeline.fit.farm_detector.training import train, vocabulary_of
    except ImportError as error:
        raise UserError(
            f"fitting a detector needs PyTorch: pip install torch, the CPU build will do ({error})"
        ) from None
    material = sources.load(say)
    for_network, for_forest = material.parted_families()
    texts = material.texts
    say(f"{len(texts.network)} texts for the network, {len(texts.forest)} set aside for the forest")
    vocabulary = vocabulary_of([*texts.network, *material.unusual.network], words)
    network = train(for_network, vocabulary, steps, channels, threads, say).in_whole_numbers()
    return material, Detector(language, vocabulary, network, NO_FOREST, {"steps": steps}), for_forest


def _kept(sources: Sources, old: Detector, say: Say) -> tuple[Material, Detector, Families]:
    """The same with the vocabulary and the network of a detector, and what it says of them."""
    about = old.about.get("network", old.about)
    learned_from = {file["sha256"] for part in ("trusted", "unusual") for file in about.get(part, ())}
    material = sources.load(say, learned_from)
    say(f"{len(material.texts.forest)} texts for the forest, which the network has not seen")
    kept = {
        name: about[name] for name in ("steps", "families", "trusted", "unusual", "words", "versions") if name in about
    }
    return material, replace(old, forest=NO_FOREST, about={"network": kept}), material.forest_families()
