"""A reader of the form that open_flamingo calls `is_gpt`, written from its described rules: what its trainer is fed."""

import base64
import json
import re

Read = list[str | bytes]  # texts, and images by their bytes


def read(sample: str | bytes, max_images: int = 6) -> Read | None:
    """A sample as read before it is cut to 256 tokens; None where it is refused for having no images.

    Marks stand in the text; the first mark is the first image by number, whatever number it has.
    """
    info = json.loads(sample)
    assert "is_gpt" in info
    count = len(info["image_map"])
    images = [base64.b64decode(info["image_map"][f"_!_IMAGE{n}_!_"]["base64_image"]) for n in range(1, count + 1)]
    pieces = re.split(r"_!_IMAGE\d+_!_", info["example"])
    if len(pieces) - 1 > max_images:
        pieces = pieces[:max_images]  # cut before the last mark that there is room for
    return _woven(pieces, images) if len(pieces) > 1 else None


def _woven(pieces: list[str], images: list[bytes]) -> Read:
    out: Read = []
    for number, piece in enumerate(pieces):
        out += [images[number - 1]] if number else []
        out += [piece.strip()] if piece.strip() else []
    return out
