from typing import Any

from numpy.typing import NDArray

def compare(
    before: NDArray[Any],
    after: NDArray[Any],
    subject: NDArray[Any],
    width: int,
    traits: NDArray[Any],
    begins: NDArray[Any],
    /,
) -> tuple[bytes, ...]: ...
