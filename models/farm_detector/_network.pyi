from typing import Any

from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.packed_layer import PackedLayer

WAYS: tuple[str, ...]

def log_odds(
    way: str,
    rows: NDArray[Any],
    words: NDArray[Any],
    endings: NDArray[Any],
    looks: NDArray[Any],
    topics: NDArray[Any],
    channels: int,
    subjects: int,
    layers: tuple[PackedLayer, ...],
    found: NDArray[Any],
    /,
) -> None: ...
