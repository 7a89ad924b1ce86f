"""Made-up prose with an order of words that a model can learn, the same each time."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

SUBJECTS = "the old harbour|a small town|our neighbour|the quiet river|her brother|this garden".split("|")
VERBS = "was painted by|looks like|was given to|stands beside|remembers".split("|")
OBJECTS = "an honest fisherman|the last bridge|every child|some green hills|a letter of 1904|the market".split("|")
ENDS = "in the morning.|without a word.|many years ago.|as people say.|and nobody knew.".split("|")


def text(seed: int, sentences: int = 12) -> str:
    """Paragraphs of a few sentences."""
    rng = random.Random(seed)
    made = [" ".join(rng.choice(part) for part in (SUBJECTS, VERBS, OBJECTS, ENDS)) for _ in range(sentences)]
    return "\n\n".join(" ".join(made[i : i + 4]) for i in range(0, len(made), 4))


def shuffled(seed: int) -> str:
    """The same words in no order."""
    words = text(seed).split()
    random.Random(seed).shuffle(words)
    return " ".join(words)


def write_rows(path: Path, texts: Sequence[str], **more: str) -> Path:
    """JSON lines of these texts."""
    rows = [{"id": str(number), "text": text, **more} for number, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
