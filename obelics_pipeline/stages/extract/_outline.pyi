from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

def outline(
    rows: NDArray[np.int32],
    states: NDArray[np.uint8],
    posts: NDArray[np.int32] | None,
    takes_table: Callable[[int], bool],
    entries: bytes,
    /,
) -> bytearray: ...
