"""Fitting the detector of generated text: `obelics fit detector`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from models.farm_detector.detector import Detector, score_of
from models.forest import NODE, Forest
from obelics_pipeline.errors import UserError
from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.families import WEIGHTS, Families
from obelics_pipeline.fit.farm_detector.judging import (
    fit_forest,
    make_judged,
    recalls,
    recalls_at,
    scores_of_unseen,
    threshold_of,
)
from obelics_pipeline.fit.farm_detector.texts import read_texts
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from obelics_pipeline.fit.farm_detector.translating import Translator
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.fit.training import load_lightgbm
from obelics_pipeline.storage import file_sha256

_FEWEST = 8  # texts of each part: below, there is nothing to splice and shuffle
NO_FOREST = Forest((), np.zeros(0, NODE), np.zeros(0, np.int32))


def fit_detector(
    trusted: Sequence[str],
    output: Path,
    unusual: Sequence[str],
    thesaurus: Path | None,
    dictionaries: Sequence[tuple[Path, Path]],
    leave_out: Sequence[str],
    language: str,
    steps: int,
    documents: int,
    threads: int,
    say: Say,
) -> None:
    """Fit a detector on texts that people wrote and what is made of them, tell what it is worth, and write it.

    Raises UserError, in one line, for what the person can mend.
    """
    load_lightgbm()
    try:
        from obelics_pipeline.fit.farm_detector.training import train, vocabulary_of
    except ImportError as error:
        raise UserError(
            f"fitting a detector needs PyTorch: pip install torch, the CPU build will do ({error})"
        ) from None
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")
    files, genres = text_files(trusted), text_files(unusual)
    texts, honest = read_texts(files), read_texts(genres)
    for file in (*files, *genres):
        say(str(file))
    words = Thesaurus.load(thesaurus) if thesaurus else Thesaurus.of_texts(texts.network)
    translators = [Translator(Dictionary.load(there), Dictionary.load(back)) for there, back in dictionaries]
    for_network, for_forest = (
        Families(TrustedTexts(part), TrustedTexts(genre) if genre else None, words, translators, leave_out)
        for part, genre in ((texts.network, honest.network), (texts.forest, honest.forest))
    )
    if min(len(texts.network), len(texts.forest)) < _FEWEST:
        raise UserError(
            f"{len(texts.network) + len(texts.forest)} trusted texts are too few to make others of: give "
            f"{5 * _FEWEST} or more"
        )
    say(f"{len(texts.network)} texts for the network, {len(texts.forest)} set aside for the forest")
    vocabulary = vocabulary_of([*texts.network, *honest.network])
    network = train(for_network, vocabulary, steps, threads, say).in_whole_numbers()
    judged = make_judged(Detector(language, vocabulary, network, NO_FOREST, {}), for_forest, documents)
    scores = scores_of_unseen(judged)
    found = list(recalls(judged, scores))
    for family, count, recall in found:
        say(f"{family}: {recall:.3f} of {count} found where 1 % of the honest texts are taken for generated")
    detector = Detector(language, vocabulary, network, fit_forest(judged), {})
    threshold = threshold_of(scores[~judged.generated])
    not_seen: dict[str, float] = {}
    if others := [name for name in leave_out if translators or name != "translating"]:
        rest = [name for name in WEIGHTS if name not in others]
        strangers = Families(TrustedTexts(texts.forest), None, words, translators, rest)
        for family, count, recall in recalls_at(threshold, detector, make_judged(detector, strangers, documents // 4)):
            say(f"{family}: {recall:.3f} of {count} found at this threshold, none of which it was trained on")
            not_seen[family] = round(recall, 4)
    about = {
        "threshold": score_of(int(threshold)),
        "recall": {family: round(recall, 4) for family, _, recall in found},
        "recall_left_out": not_seen,
        "families": [family for family in WEIGHTS if family not in leave_out],
        "steps": steps,
        "documents": documents,
        "trusted": [file.account() for file in files],
        "unusual": [file.account() for file in genres],
        "words": {path.name: file_sha256(path) for path in _word_lists(thesaurus, dictionaries)},
        "versions": {name: version(name) for name in ("lightgbm", "numpy", "torch")},
    }
    detector = replace(detector, about=about)
    try:
        detector.save(output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    say(
        f"wrote {output}: {len(vocabulary.words)} words, {len(detector.forest.roots)} trees, "
        f"threshold {about['threshold']}"
    )


def _word_lists(thesaurus: Path | None, dictionaries: Sequence[tuple[Path, Path]]) -> list[Path]:
    """The files that words were taken from."""
    indexes = [index for pair in dictionaries for index in pair]
    articles = [index.with_suffix(".dict.dz") for index in indexes]
    return [*([thesaurus] if thesaurus else []), *indexes, *articles]
