"""Training a small Flamingo from scratch: `obelics fit flamingo`.

Not the project's trainer: one process, one pass of fixed steps in memory, on a CPU, nothing to resume. It makes a real
model in minutes, so that tests and the demo need no mock, and so that what the loss finds can be measured.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline import __version__
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import TEMPORARY
from obelics_pipeline.fit.flamingo.corpus import Corpus
from obelics_pipeline.fit.flamingo.documents import document_sources
from obelics_pipeline.fit.flamingo.shape import POSITIONS, SIDE, Shape, tokenizer_of, untrained
from obelics_pipeline.fit.say import Say
from obelics_pipeline.models.flamingo.compat import require
from obelics_pipeline.models.flamingo.layout import lay_out
from obelics_pipeline.models.flamingo.scorer import FlamingoScorer
from obelics_pipeline.models.flamingo.unigram import Unigram
from obelics_pipeline.models.flamingo.windows import windows
from obelics_pipeline.models.pictures.sources import FolderImages, no_images

COUNTS = "token_counts.npy"  # what `LoadFlamingo.unigram` takes
RECORD = "fit.json"
_CONTEXT = 1  # token of the window before that a window begins with


def fit_flamingo(
    documents: Sequence[str], images: Path | None, output: Path, shape: Shape, steps: int, threads: int, say: Say
) -> None:
    """Train on documents, tell what the model is worth on some that it has not seen, and write its folder.

    `documents` are files or folders of finished runs; `images` has a file for each URL, named by its sha256. Raises
    UserError, in one line, for what a person can mend.
    """
    shape.check()
    require()
    from obelics_pipeline.fit.flamingo.training import gates_of, train

    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise UserError(f"--output {output}: is there already; name a new folder")
    if not output.parent.is_dir():
        raise UserError(f"--output {output}: there is no folder {output.parent}")
    if images is not None and not images.is_dir():
        raise UserError(f"--images {images}: no folder; its files are named by the sha256 of the images' URLs")
    corpus = Corpus(SIDE)
    sources = document_sources(documents, FolderImages(images) if images else no_images)
    for source in sources:
        corpus.add(source.documents())
        say(str(source))
    made = untrained(shape, tokenizer_of(corpus.texts(), shape.words))
    model = made.model
    laid_out = [lay_out(parts, model.encoder(), model.marks, model.literals) for parts in corpus.learned]
    cut = [w for layout in laid_out for w in windows(layout, model.marks, POSITIONS, _CONTEXT)]
    if not cut:
        raise UserError("--documents: the files have no text to train on")
    counts = np.bincount(np.concatenate([layout.targets() for layout in laid_out]), minlength=len(model.tokenizer))
    say(
        f"{len(laid_out):,} documents of {counts.sum():,} tokens, {len(corpus.pictures):,} pictures; "
        f"{sum(p.numel() for p in model.flamingo.parameters()):,} parameters; {len(corpus.held_out):,} held out"
    )
    train(model, cut, corpus.pictures, steps, threads, say)
    worth = _worth(FlamingoScorer(model, corpus.source(), unigram=Unigram.from_counts(counts)), corpus)
    say(", ".join(f"{name} {value:.3f}" for name, value in worth.items()) or "nothing is held out: too few documents")
    record = {
        "model": "Flamingo from scratch",
        "settings": {**asdict(shape), "steps": steps, "threads": threads},
        "input": [source.description() for source in sources],
        "documents": len(laid_out),
        "tokens": int(counts.sum()),
        "pictures": len(corpus.pictures),
        "gates": [round(gate, 4) for gate in gates_of(model)],
        "held_out": {"documents": len(corpus.held_out), **worth},
        "versions": {
            "obelics-pipeline": __version__,
            **{
                name: version(name)
                for name in ("open_clip_torch", "open_flamingo", "tokenizers", "torch", "transformers")
            },
        },
    }
    try:
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=output.parent) as scratch:
            folder = Path(scratch) / output.name
            (folder / "language_model").mkdir(parents=True)
            made.write(folder)
            np.save(folder / COUNTS, counts)
            (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
            os.replace(folder, output)
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written ({error.strerror or error})") from None
    say(f"wrote {output}: a model for flamingo columns, and {COUNTS} for flamingo_worse_than_unigram")


def _worth(scorer: FlamingoScorer, corpus: Corpus) -> dict[str, float]:
    """Means over the held-out documents, of those that have the score."""
    scores: list[dict[str, Any]] = scorer.score(corpus.held_out)
    names = ("flamingo_loss", "flamingo_bits_per_byte", "flamingo_worse_than_unigram", "flamingo_image_gain")
    found = {name: [one[name] for one in scores if one[name] is not None] for name in names}
    return {name: round(float(np.mean(values)), 4) for name, values in found.items() if values}
