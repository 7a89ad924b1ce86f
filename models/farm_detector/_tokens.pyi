from collections.abc import Callable

from obelics_pipeline.models.word_index import Index

def read(
    text: str, most: int, words: Index, hard: Callable[[str], tuple[int, int, int, str]], /
) -> tuple[bytes, bytes, bytes, bytes]: ...
