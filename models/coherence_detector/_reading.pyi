from obelics_pipeline.models.word_index import Index

def read(
    text: str, traits: Index, grammar: Index, words: int, fewest: int, /
) -> tuple[tuple[int, ...], tuple[bytes, bytes]] | None: ...
