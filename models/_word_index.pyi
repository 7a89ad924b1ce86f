from typing import Any

from numpy.typing import NDArray

def fill(characters: NDArray[Any], begins: NDArray[Any], slots: NDArray[Any], /) -> None: ...
