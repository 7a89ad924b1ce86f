"""A reader of open_flamingo's two forms, written from its described rules: what its trainer would be fed, in order."""

import base64
import json
import re
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

Read = list[str | bytes]  # texts, and images by their bytes


def read(sample: str | bytes, max_images: int = 6, hungarian: bool = False, threshold: float = 30) -> Read | None:
    """A sample as read before it is cut to 256 tokens; None where it is refused for having no images.

    The form by similarity: images of less than 11,000 bytes are passed over. 2.0.1 gives each image the text of its
    largest similarity; main (`hungarian`) gives texts to images one to one, so that the sum is largest. Those below the
    threshold are passed over. Images keep their order, marks stand before their texts.
    The form `is_gpt`: marks stand in the text; the first mark is the first image by number, whatever number it has.
    """
    info = json.loads(sample)
    return _gpt(info, max_images) if "is_gpt" in info else _similar(info, max_images, hungarian, threshold)


def _gpt(info: dict[str, Any], max_images: int) -> Read | None:
    count = len(info["image_map"])
    images = [base64.b64decode(info["image_map"][f"_!_IMAGE{n}_!_"]["base64_image"]) for n in range(1, count + 1)]
    pieces = re.split(r"_!_IMAGE\d+_!_", info["example"])
    if len(pieces) - 1 > max_images:
        pieces = pieces[:max_images]  # cut before the last mark that there is room for
    return _woven(pieces, images) if len(pieces) > 1 else None


def _similar(info: dict[str, Any], max_images: int, hungarian: bool, threshold: float) -> Read | None:
    images = [base64.b64decode(image["image_base64"]) for image in info["image_info"]]
    valid = [i for i, image in enumerate(images) if len(image) // 1000 > 10]
    if not valid:
        return None
    matrix = np.array(info["similarity_matrix"])[valid]
    pairs = zip(*linear_sum_assignment(-matrix), strict=True) if hungarian else enumerate(matrix.argmax(axis=1))
    assigned = [(int(row), int(column)) for row, column in pairs if matrix[row, column] >= threshold][:max_images]
    marked = list(info["text_list"])
    for _, column in assigned:
        marked[column] = "\0" + marked[column]
    return _woven(" ".join(marked).split("\0"), [images[valid[row]] for row, _ in assigned]) if assigned else None


def _woven(pieces: list[str], images: list[bytes]) -> Read:
    out: Read = []
    for number, piece in enumerate(pieces):
        out += [images[number - 1]] if number else []
        out += [piece.strip()] if piece.strip() else []
    return out
