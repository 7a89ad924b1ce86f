from typing import Any

from numpy.typing import NDArray

def count(
    rows: NDArray[Any], forms: NDArray[Any], letters: NDArray[Any], capitals: NDArray[Any], /
) -> tuple[int, ...]: ...
