"""Texts of people and of two machines that say "delve", on three subjects."""

import json
from pathlib import Path
from random import Random

WORDS = "harbour boat house garden road market letter morning teacher river window brother winter stone bread".split()
KNOWN = "a b " * 25  # pieces that the small language model knows
SUBJECTS = ("news", "reviews", "stories")


def write_texts(path: Path, seed: int = 1, each: int = 60) -> Path:
    """Rows as `obelics fit chat-detector` reads them."""
    random = Random(seed)
    rows = []
    for subject in SUBJECTS:
        for generator in ("people", "talker", "writer"):
            for _ in range(each):
                machine = generator != "people"
                words = random.choices([*WORDS, *(["delve"] * 4 if machine else [subject])], k=80)
                sentences = [" ".join(words[begin : begin + 8]) + "." for begin in range(0, 80, 8)]
                row = {
                    "id": f"{subject} {generator} {len(rows)}",
                    "text": KNOWN + " ".join(sentences),
                    "label": int(machine),
                    "generator": generator,
                    "domain": subject,
                }
                rows.append(json.dumps(row) + "\n")
    path.write_text("".join(rows), "utf-8")
    return path
