from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

def inside(rows: NDArray[np.int32], is_root: NDArray[np.bool_], /) -> bytearray: ...
def inside_tags(rows: NDArray[np.int32], is_wanted: NDArray[np.bool_], /) -> bytearray: ...
def sums_before(values: NDArray[np.generic], /) -> bytearray: ...
def count_characters(values: Sequence[object], signs: str, /) -> list[int]: ...
def count_rows(
    rows: NDArray[np.int32], text: int, image: int, tags: tuple[int, ...], /
) -> tuple[list[int], list[int], list[int]]: ...
def count_addresses(addresses: list[str], /) -> list[int]: ...
def count_links(
    links: list[tuple[str, str | None]],
    elsewhere: Mapping[str, bool],
    is_affiliate: Callable[[str], object],
    is_forwarding: Callable[[str, int], object],
    is_sponsored: Callable[[str], object],
    /,
) -> list[int]: ...
def decide(
    log_odds: NDArray[np.int64], characters: NDArray[np.int32], limits: NDArray[np.int64], line: int, share: float, /
) -> tuple[bytearray, float]: ...
def places(
    rows: NDArray[np.int32],
    kept: NDArray[np.bool_],
    pictures: list[tuple[int, int]],
    bits: bytes,
    most: int,
    near: int,
    unseen: int,
    label: int,
    /,
) -> list[tuple[int, bool, float, float, int | None, int | None, bool, bool, bool]]: ...
def means(features: NDArray[np.float32], width: int, step: int, parts: int, /) -> bytearray: ...
