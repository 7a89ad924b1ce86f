"""A document in the other form that open_flamingo's loader reads, by a matrix of similarities, beside ours.

And main's way of assigning images to texts (commit 655f693: linear_sum_assignment), which is on no package index, as
a wrapper of the function of 2.0.1.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

FITS = 100.0  # similarity, as CLIP's times 100: above any threshold in use
SMALL = 11_000  # bytes below which an image is passed over: it keeps those with bytes // 1000 > 10


def by_similarity(texts: Sequence[str | None], files: Sequence[str | None], images: Mapping[str, bytes]) -> str:
    """The JSON of the form: each image fits the text after it; one without a text after it gets an empty one."""
    sentences: list[str] = []
    rows: list[int] = []
    after = [*texts[1:], None]
    for text, file, following in zip(texts, files, after, strict=True):
        if text is not None:
            sentences.append(text)
        elif file is not None:
            rows.append(len(sentences))
            if following is None:
                sentences.append("")
    info = [{"image_base64": base64.b64encode(images[file]).decode()} for file in files if file is not None]
    matrix = [[FITS * (column == row) for column in range(len(sentences))] for row in rows]
    return json.dumps({"text_list": sentences, "image_info": info, "similarity_matrix": matrix})


def assigned_as_main(sample: str) -> str:
    """A sample whose argmax (2.0.1) is what main assigns: each text at most one image, the largest sum of all."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    info: dict[str, Any] = json.loads(sample)
    if "is_gpt" in info:
        return sample  # main reads this form as 2.0.1 does
    valid = [i for i, image in enumerate(info["image_info"]) if len(base64.b64decode(image["image_base64"])) >= SMALL]
    matrix = np.array(info["similarity_matrix"])
    assigned = np.zeros_like(matrix)
    for row, column in zip(*linear_sum_assignment(-matrix[valid]), strict=True) if valid else ():
        assigned[valid[row], column] = matrix[valid[row], column]
    return json.dumps({**info, "similarity_matrix": assigned.tolist()})
