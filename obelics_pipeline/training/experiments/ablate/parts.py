"""Small random parts for an experiment that has none: a tokenizer of the documents' words, a model, a vision tower."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.models.packed_flamingo.tiny import LANGUAGE_MODEL, VISION, tiny
from obelics_pipeline.training.experiments.ablate.experiment import Parts
from obelics_pipeline.training.plan.documents import read_run
from obelics_pipeline.training.plan.recipe import Recipe
from obelics_pipeline.training.plan.records import read_records

MADE = "parts.json"  # written last


def make_parts(parts: Parts, recipe: Recipe, folder: Path) -> tuple[Path, Path]:
    """The folders of a language model and a vision tower, made unless they are there."""
    about = parts.model_dump_json().encode()
    if (folder / MADE).is_file() and (folder / MADE).read_bytes() == about:
        return folder / LANGUAGE_MODEL, folder / VISION
    shutil.rmtree(folder, ignore_errors=True)
    texts = islice(_texts(recipe), parts.documents)
    made = tiny(
        folder,
        texts,
        words=parts.words,
        width=parts.width,
        layers=parts.layers,
        positions=max(2048, recipe.sequence_tokens),
        side=parts.side,
    )
    write_bytes(folder / MADE, about)
    return made


def _texts(recipe: Recipe) -> Iterator[str]:
    """The text of each document of a recipe's runs."""
    for name, dataset in recipe.datasets.items():
        for run in dataset.runs:
            for task in read_run(name, dataset, run, Path()).tasks:
                for record in read_records(task.shard, task.documents):
                    yield "\n".join(text for text in record["texts"] if text)
