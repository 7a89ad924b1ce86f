"""How much of a picture is text on a plain ground: a page, a slide, a screenshot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TILE = 32  # pixels: a few letters of a line
# What a tile of text is, set before anything was measured and left so. Shares are of its pixels, and of its contrast:
# from the level that 2 % of them are darker than to the one that 2 % are lighter than.
CONTRAST = 50  # levels of 256, at least
BETWEEN = 0.4  # at most so many pixels are neither ink nor ground, but in the middle half of the contrast
GROUND, LIKE_IT = 0.35, 0.1  # at least so many differ from the ground by so much of the contrast, or less
INK = 0.04  # at least so many are as dark (on a dark ground, as light) as ink
EDGES_ACROSS, EDGES_DOWN = (1.2, 14.0), (0.8, 10.0)  # between dark and light, on a line of the tile, in the mean
LEAST_LIKE = 6  # levels


def text_share(grey: NDArray[np.uint8]) -> float | None:
    """The share of the tiles that look like text on a plain ground and have such a tile beside them, 0 to 1.

    Text is ink of two levels that alternate as strokes do; what is in a photograph is not flat between its edges.
    Letters are not looked for: a grid of fine lines, or a QR code, counts as text, and text over a photograph does not.
    None where the picture is smaller than two tiles.
    """
    height, width = grey.shape
    down, across = height // TILE, width // TILE
    if down < 1 or across < 2:
        return None
    tiles = grey[: down * TILE, : across * TILE].reshape(down, TILE, across, TILE).swapaxes(1, 2).astype(np.int32)
    ranked = np.sort(tiles.reshape(down, across, -1), -1)
    cut = TILE * TILE // 50
    darkest, lightest = ranked[..., cut, None, None], ranked[..., -1 - cut, None, None]
    contrast = lightest - darkest
    above = 4 * (tiles - darkest)  # four times, so that quarters of the contrast are whole numbers
    dark, light = above < contrast, above > 3 * contrast
    darks, lights = dark.mean((2, 3)), light.mean((2, 3))
    ground = np.where((lights >= darks)[..., None, None], lightest, darkest)
    like_it = np.abs(tiles - ground) <= np.maximum(LIKE_IT * contrast, LEAST_LIKE)
    half = above > 2 * contrast
    edges_across = (half[..., 1:] != half[..., :-1]).sum((2, 3)) / TILE
    edges_down = (half[..., 1:, :] != half[..., :-1, :]).sum((2, 3)) / TILE
    text = (
        (contrast[..., 0, 0] >= CONTRAST)
        & (1 - darks - lights <= BETWEEN)
        & (like_it.mean((2, 3)) >= GROUND)
        & (np.minimum(darks, lights) >= INK)
        & _within(edges_across, EDGES_ACROSS)
        & _within(edges_down, EDGES_DOWN)
    )
    beside = np.zeros_like(text)
    beside[:, 1:] |= text[:, :-1]
    beside[:, :-1] |= text[:, 1:]
    return float((text & beside).mean())


def _within(values: NDArray[np.float64], bounds: tuple[float, float]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (values >= bounds[0]) & (values <= bounds[1])
    return found
