from typing import Any

from numpy.typing import NDArray

def read(
    rows: NDArray[Any], topics: NDArray[Any], width: int, ends: NDArray[Any], meaning: int, /
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, int, int]: ...
