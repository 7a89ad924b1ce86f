"""Functions that a config names."""

from __future__ import annotations

from typing import Any

told: list[dict[str, Any]] = []
BROKEN = {"now": False}


def remember(event: dict[str, Any]) -> None:
    if BROKEN["now"]:
        raise ConnectionError("the line is down")
    told.append(event)


def red_faces(image: Any) -> Any:
    """A face is what is red: its box, True where all is red, None where nothing is."""
    import numpy as np

    pixels = np.asarray(image).astype(int)
    red = (pixels[..., 0] > 180) & (pixels[..., 1] < 90) & (pixels[..., 2] < 90)
    if red.all():
        return True
    if not red.any():
        return None
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    return [(columns[0] - 5, rows[0] - 5, columns[-1] + 6, rows[-1] + 6), (900, 900, 950, 950)]


def fails(_image: Any) -> Any:
    raise RuntimeError("no such model")
