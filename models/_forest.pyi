from typing import Any

from numpy.typing import NDArray

def log_odds(nodes: NDArray[Any], roots: NDArray[Any], values: NDArray[Any], sums: NDArray[Any]) -> None: ...
