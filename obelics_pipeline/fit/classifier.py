"""Training the fastText classifier of documents: `obelics fit classifier`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from obelics_pipeline import __version__
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import TEMPORARY, file_sha256
from obelics_pipeline.fit.floret_file import to_fasttext
from obelics_pipeline.fit.labelled_lines import Lines
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.separation import Scored, separate, table
from obelics_pipeline.fit.texts import TextFile, text_files
from obelics_pipeline.models.quality_classifier import NEGATIVE, POSITIVE, QualityClassifier

# fastText's tutorial settings for classifying text: bigrams, softmax, 0.5. A short vector will do for two labels.
_TRAINING = {"lr": 0.5, "epoch": 5, "dim": 16, "wordNgrams": 2, "minCount": 2, "bucket": 2**18, "loss": "softmax"}
_REPEATABLE = {"thread": 1, "seed": 1, "verbose": 0}  # threads race for the weights: one gives the same bytes
_QUANTIZING = {"retrain": True, "qnorm": True, "thread": 1, "verbose": 0}
FEWEST = 256  # words and pairs of words: fastText's quantizer has so many centroids


def fit_classifier(
    positive: Sequence[str], negative: Sequence[str], output: Path, say: Say, features: int = 50_000
) -> None:
    """Train on nine tenths of the texts, quantize, measure on the rest, and write the model and a record beside it.

    `features` is how many words and pairs of words the model keeps. Raises UserError, in one line, for what a person
    can mend.
    """
    load_floret()
    if features < FEWEST:
        raise UserError(f"--features {features}: valid are {FEWEST} and more")
    if output.suffix != ".ftz":
        raise UserError(f"--output {output}: the model is quantized, and its name ends in .ftz")
    if not output.parent.is_dir():
        raise UserError(f"--output {output}: there is no folder {output.parent}")
    files = {POSITIVE: text_files(positive), NEGATIVE: text_files(negative)}
    try:
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=output.parent) as scratch:
            _fit(files, output, say, features, Path(scratch))
    except OSError as error:
        raise UserError(f"{error.filename or output}: {error.strerror or error}") from None


def _fit(files: Mapping[str, Sequence[TextFile]], output: Path, say: Say, features: int, scratch: Path) -> None:
    buckets, draft = scratch / "lines", scratch / output.name
    buckets.mkdir()
    lines = Lines.deal(files, buckets)
    for label, of_label in files.items():
        for file in of_label:
            say(f"{label} {file}")
    if lines.both or lines.again:
        say(f"left out: {lines.both:,} texts that are of both labels, {lines.again:,} that were there before")
    lines.write_training(scratch / "training.txt")
    draft.write_bytes(_trained(scratch / "training.txt", scratch / "model", features))
    found = separate(_scored(lines, QualityClassifier.load(str(draft))))
    for line in table(found) if found else ["nothing of one of the labels is held out: too few texts to measure"]:
        say(line)
    record = {
        "model": "fastText classifier of documents",
        "settings": _TRAINING | _REPEATABLE | {"quantized": {"cutoff": features, **_QUANTIZING}},
        "input": {label: [file.description() for file in of_label] for label, of_label in files.items()},
        "texts": dict(sorted(lines.counts.items())),
        "of_both_labels": lines.both,
        "repeated": lines.again,
        "held_out": asdict(found) if found else None,
        "versions": {"obelics-pipeline": __version__, "floret": version("floret")},
        "bytes": draft.stat().st_size,
        "sha256": file_sha256(draft),
    }
    beside = scratch / "record.json"
    beside.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    os.replace(draft, output)
    os.replace(beside, output.with_suffix(".json"))
    say(f"wrote {output}: {record['bytes']:,} bytes, and {output.with_suffix('.json').name} beside it")


def _trained(training: Path, saved: Path, features: int) -> bytes:
    """The quantized model, as the file that fastText reads."""
    try:
        model = load_floret().train_supervised(str(training), **_TRAINING, **_REPEATABLE)
        model.quantize(str(training), cutoff=features, **_QUANTIZING)
        model.save_model(str(saved))
        return to_fasttext(saved.read_bytes())
    except (RuntimeError, ValueError) as error:
        raise UserError(f"floret cannot train on these texts: {' '.join(str(error).split())}") from None


def _scored(lines: Lines, classifier: QualityClassifier) -> Sequence[Scored]:
    """The held out lines under the model as it will be used. A line is already in the form that is scored."""
    return [
        Scored(labelled.label == POSITIVE, labelled.source, classifier.probability(labelled.line) or 0.0)
        for labelled in lines.held_out()
    ]


def load_floret() -> Any:
    """The module. Raises UserError where it is not installed."""
    try:
        return import_module("floret")
    except ImportError as error:
        raise UserError(f"training a classifier needs floret: pip install 'obelics-pipeline[fit]' ({error})") from None
