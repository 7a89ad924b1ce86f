"""A number with its noun, for a person."""


def counted(n: int, nouns: str) -> str:
    """`1 unit`, `1,204 units`: the noun is given in the plural, which is the singular and an s."""
    return f"{n:,} {nouns if n != 1 else nouns.removesuffix('s')}"
