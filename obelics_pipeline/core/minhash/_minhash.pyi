import numpy as np
import numpy.typing as npt

def sign(
    text: str,
    characters: bytes,
    factors: npt.NDArray[np.uint32],
    summands: npt.NDArray[np.uint32],
    shingle_words: int,
    rows: int,
    keys: npt.NDArray[np.uint64],
    sketch: npt.NDArray[np.uint8],
) -> int: ...
