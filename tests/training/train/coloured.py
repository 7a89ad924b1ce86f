"""Pictures of colours whose captions name the colour, or name any: what a small model can learn from images alone."""

from __future__ import annotations

import hashlib
import io
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.training.experiments.evaluate.task import ABOUT, EXAMPLES
from obelics_pipeline.training.plan.command import make_plan
from obelics_pipeline.training.plan.recipe import Recipe
from tests.stages.shard.runs import document, make_run

COLOURS = {"red": (220, 30, 30), "green": (30, 180, 40), "blue": (40, 60, 220), "white": (240, 240, 240)}
TEMPLATES = ("Caption: {answer}", "A picture of {answer}", "The image shows {answer}")
SIDE = 32


@cache
def picture(colour: str, number: int) -> bytes:
    """Another pattern of a colour for each number."""
    from PIL import Image, ImageDraw

    chance = random.Random(f"{colour} {number}")
    image = Image.new("RGB", (SIDE, SIDE), COLOURS[colour])
    for _ in range(3):
        x, y = chance.randrange(SIDE), chance.randrange(SIDE)
        ImageDraw.Draw(image).rectangle((x, y, x + 5, y + 5), fill=tuple(v // 2 for v in COLOURS[colour]))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


_STORE: dict[str, bytes] = {}


def node(colour: str, number: int) -> ImageNode:
    """An image of a page."""
    data = picture(colour, number)
    _STORE[sha256 := hashlib.sha256(data).hexdigest()] = data
    src = f"http://pictures.example/{colour}-{number}.png"
    facts: dict[str, Any] = {"original_width": SIDE, "original_height": SIDE, "format": "png"}
    return ImageNode(src, src, sha256=sha256, n_bytes=len(data), **facts)


def page(number: int, telling: bool) -> Document:
    """Three pictures, each before a caption; `telling`: that names its colour."""
    chance = random.Random(number)
    nodes: list[Node] = []
    for i in range(3):
        shown = chance.choice(list(COLOURS))
        said = shown if telling else chance.choice(list(COLOURS))
        nodes += [node(shown, number * 3 + i), TextNode(chance.choice(TEMPLATES).replace("{answer}", said))]
    return document(number, nodes)


def make_coloured(folder: Path, documents: int = 80, repeat: int = 8) -> dict[str, Any]:
    """Two data sets, of captions that tell and of captions that do not; the config of a training on them."""
    from obelics_pipeline.models.packed_flamingo.tiny import tiny
    from tests.training.train.trainable import config_of

    texts = [template.replace("{answer}", colour) for template in TEMPLATES for colour in COLOURS]
    language_model, vision = tiny(folder / "parts", texts * 20, words=300, width=32, layers=2, side=SIDE)
    for name, first in (("telling", 0), ("silent", 1000)):
        pages = [page(first + n, name == "telling") for n in range(documents)]
        make_run(folder / name, pages, read=_STORE.__getitem__)
    recipe = {
        "datasets": {n: {"runs": [str(folder / n)], "repeat": repeat} for n in ("telling", "silent")},
        "language_model": str(language_model),
        "sequence_tokens": 96,
        "images_per_row": 12,
        "batch_tokens": 96 * 8,
        "held_out": 0.1,
        "allow_equal_content": True,
    }
    make_plan(Recipe.model_validate(recipe), folder / "plan")
    config = config_of(folder, language_model, vision)
    return config | {"micro_rows": 8, "checkpoint": {"every_steps": 100}, "schedule": {"peak": 5e-3, "warmup_steps": 5}}


def make_task(folder: Path, asked: int = 12, **about: Any) -> Path:
    """A task of naming colours, with images that no document has."""
    examples = []
    chance = random.Random(7)
    for number in range(asked + 8):
        colour = list(COLOURS)[number % len(COLOURS)] if number < asked else chance.choice(list(COLOURS))
        examples.append(
            {
                "id": str(number),
                "image": f"{number}.png",
                "choices": list(COLOURS),
                "answer": list(COLOURS).index(colour),
                "shot": number >= asked,
            }
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.png").write_bytes(picture(colour, 90_000 + number))
    said = {"name": "colours", "capabilities": ["colour", "caption"], "shots": [0, 4, 8], "templates": list(TEMPLATES)}
    (folder / ABOUT).write_text(json.dumps(said | about))
    (folder / EXAMPLES).write_text("".join(json.dumps(example) + "\n" for example in examples))
    return folder
