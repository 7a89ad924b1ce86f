from typing import Any

from numpy.typing import NDArray

def read(weights: NDArray[Any], form: str, /) -> tuple[int, int, int]: ...
