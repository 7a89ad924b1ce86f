from typing import Any

from numpy.typing import NDArray

def columns(log_odds: NDArray[Any], probability: NDArray[Any], heads: int, /) -> bytes: ...
