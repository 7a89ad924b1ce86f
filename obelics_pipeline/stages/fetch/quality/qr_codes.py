"""QR codes in a picture: how many, and how much of it they take."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError

Point = tuple[int, int]


def qr_codes(grey: NDArray[np.uint8]) -> list[Sequence[Point]]:
    """The corners of each QR code that can be read, in pixels.

    zxing-cpp reads them: error correction leaves hardly a picture that is taken for one.
    """
    import zxingcpp

    found = zxingcpp.read_barcodes(
        np.ascontiguousarray(grey), formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
    )
    corners = [
        (f.position.top_left, f.position.top_right, f.position.bottom_right, f.position.bottom_left) for f in found
    ]
    return [[(point.x, point.y) for point in points] for points in corners]


def demand_reader() -> None:
    """Raises UserError where zxing-cpp is not installed."""
    if find_spec("zxingcpp") is None:
        raise UserError(
            "images.quality: QR codes need zxing-cpp: pip install 'obelics-pipeline[quality]'; or leave out qr_codes "
            "and qr_share"
        )


def area(corners: Sequence[Point]) -> float:
    """The area of a polygon in pixels."""
    turns = zip(corners, [*corners[1:], corners[0]], strict=True)
    return abs(sum(x * below - right * y for (x, y), (right, below) in turns)) / 2
