"""Whether open_flamingo's real loader puts each image where the document has it, and how much of a run it reads.

    python placement.py RUN EXPORT MODELS [--workers N]

RUN is the run as `webdataset` (its tars are read here with tarfile, not by the exporter), EXPORT what `obelics export
--format open_flamingo` made of it, MODELS the folder of tiny_models.py. Prints JSON.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import io
import json
import logging
import random
import re
import tarfile
from argparse import Namespace
from pathlib import Path
from typing import Any

from trainer import data_module  # first: it makes torchvision load, which the others import

# isort: split
import open_clip
import torch
from PIL import Image
from tiny_models import VISION
from transformers import AutoTokenizer

MAX_IMAGES = 6
# What the export leaves out of a text, lest it be read as a mark (docs/open_flamingo.md).
LEFT_OUT = re.compile(r"_!_IMAGE\d+_!_|<image>|<\|endofchunk\|>|<PAD>|<\|endoftext\|>|</s>")


def documents(run: Path) -> dict[str, dict[str, Any]]:
    """Every document of a run by its id: its record, and the bytes of its images under `bytes`."""
    out: dict[str, dict[str, Any]] = {}
    for path in sorted((run / "shards").glob("*.tar")):
        with tarfile.open(path) as tar:
            for info in tar:
                key, _, name = info.name.partition(".")
                data = tar.extractfile(info).read()  # type: ignore[union-attr]
                if name == "json":
                    out[key] = json.loads(data) | {"bytes": {}}
                else:
                    out[key]["bytes"][name] = data
    return out


class Check:
    """Compares what the loader gives with the documents, by the pixels and the words.

    An image is right where it is its document's next one and the text behind it is the beginning of the text that
    follows it in the document.
    """

    def __init__(self, records: dict[str, dict[str, Any]], processor: Any, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.image = tokenizer.convert_tokens_to_ids("<image>")
        self.special = set(tokenizer.all_special_ids)
        self.places: dict[str, list[tuple[str, int]]] = collections.defaultdict(list)
        self.after: dict[tuple[str, int], str] = {}
        for key, record in records.items():
            number = 0
            for position, file in enumerate(record["files"]):
                if file is None:
                    continue
                pixels = processor(Image.open(io.BytesIO(record["bytes"][file])).convert("RGB"))
                for seen in (pixels, pixels.flip(-1)):  # its augmentation flips all images of a document or none
                    self.places[digest(seen)].append((key, number))
                texts = record["texts"][position + 1 : position + 2]
                self.after[key, number] = plain(" ".join(text for text in texts if text is not None))
                number += 1
        self.seen: set[str] = set()
        self.images = self.wrong = 0

    def add(self, images: torch.Tensor, ids: torch.Tensor) -> None:
        """Take one document as loaded: its images (n, 3, h, w) and its token ids."""
        marks = (ids == self.image).nonzero().flatten().tolist()
        found = [self.places.get(digest(image), []) for image in images[: len(marks)]]
        keys = set.intersection(*({key for key, _ in places} for places in found)) if found else set()
        if not keys:
            self.wrong += len(marks)
            return
        # Two documents may have the same picture: it is the one whose words fit.
        wrong, key = min((self._wrong(key, found, marks, ids), key) for key in sorted(keys))
        self.wrong += wrong
        self.images += len(marks) * (key not in self.seen)
        self.seen.add(key)

    def _wrong(self, key: str, found: list[list[tuple[str, int]]], marks: list[int], ids: torch.Tensor) -> int:
        """How many images are not right, if this is the document."""
        last, wrong = -1, 0
        for places, mark, stop in zip(found, marks, [*marks[1:], len(ids)], strict=True):
            number = min((n for k, n in places if k == key and n > last), default=-1)
            right = number == last + 1
            ordinary = [t for t in ids[mark + 1 : stop].tolist() if t not in self.special]
            words = " ".join(self.tokenizer.decode(ordinary).split()).rstrip("\ufffd")  # a cut character at the end
            text = " ".join(self.after.get((key, number), "").split())
            lacks = not words and bool(text) and stop < len(ids)
            wrong += not right or lacks or not text.startswith(words)
            last = number
        return wrong


def plain(text: str) -> str:
    """A text without marks; taking one out must not make another."""
    while LEFT_OUT.search(text):
        text = LEFT_OUT.sub("", text)
    return text


def digest(image: torch.Tensor) -> str:
    """Of the pixels."""
    return hashlib.sha256(image.contiguous().numpy().tobytes()).hexdigest()


def by_loader(data: Any, export: Path, check: Check, processor: Any, tokenizer: Any, workers: int) -> dict[str, Any]:
    """One epoch of its real loader over the exported tars."""
    tars = sorted((export / "shards").glob("*.tar"))
    total = json.loads((export / "manifest.json").read_text())["counts"]["documents"]
    args = Namespace(
        mmc4_shards=str(export / "shards" / f"shard-{{000000..{len(tars) - 1:06d}}}.tar"),
        train_num_samples_mmc4=total,
        mmc4_textsim_threshold=30, mmc4_min_num_images=1, mmc4_max_num_images=MAX_IMAGES, batch_size_mmc4=1, seed=42,
        workers=workers, world_size=1, dataset_resampled=False,
    )  # fmt: skip
    loader = data.get_mmc4_dataset(args, processor, tokenizer).dataloader
    batches = 0
    for images, texts in loader:
        batches += 1
        check.add(images[0], texts[0][0][0])
    return {"batches": batches, **counted(check)}


def by_function(data: Any, samples: list[str], check: Check, processor: Any, tokenizer: Any) -> dict[str, Any]:
    """Its function that makes a sample, called on each of these; what it refuses is counted by its words."""
    refused: collections.Counter[str] = collections.Counter()
    random.seed(7)
    torch.manual_seed(7)
    for sample in samples:
        try:
            images, (ids, _) = data.preprocess_interleaved((sample,), tokenizer, processor, 30, 1, MAX_IMAGES)
        except ValueError as error:
            refused[str(error)] += 1
            continue
        check.add(images, ids[0])
    return {"refused": dict(refused), **counted(check)}


def counted(check: Check) -> dict[str, int]:
    """What was seen."""
    return {"documents_read": len(check.seen), "images_read": check.images, "images_misplaced": check.wrong}


def exported_samples(export: Path) -> list[str]:
    """The JSON members of the exported tars."""
    samples = []
    for path in sorted((export / "shards").glob("*.tar")):
        with tarfile.open(path) as tar:
            samples += [tar.extractfile(info).read().decode() for info in tar]  # type: ignore[union-attr]
    return samples


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("export", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    data = data_module()
    _, _, processor = open_clip.create_model_and_transforms(VISION, pretrained=None)
    tokenizer = AutoTokenizer.from_pretrained(arguments.models / "lm")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|endofchunk|>", "<image>"]})
    tokenizer.add_special_tokens({"pad_token": "<PAD>"})
    records = documents(arguments.run)
    checks = [Check(records, processor, tokenizer) for _ in range(2)]
    loader = by_loader(data, arguments.export, checks[0], processor, tokenizer, arguments.workers)
    samples = exported_samples(arguments.export)
    out = {
        "documents": len(records),
        "images": sum(len(r["bytes"]) for r in records.values()),
        "real loader": loader,
        "each sample by itself": by_function(data, samples, checks[1], processor, tokenizer),
    }
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
