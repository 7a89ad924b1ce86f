"""What the loader is said to read of a document."""

from obelics_pipeline.core.shards.loader import Loaded, LoaderLedgers, loaded


def lists(order: str, text: str = "a") -> tuple[list[str | None], list[str | None]]:
    return [text if kind == "t" else None for kind in order], ["f" if kind == "i" else None for kind in order]


def test_up_to_six_images_are_read_and_of_seven_five() -> None:
    assert loaded(*lists("ti" * 6)) == Loaded(6, 0, 0)
    assert loaded(*lists("ti" * 7)) == Loaded(5, 0, 2)


def test_an_image_behind_256_tokens_is_not_read() -> None:
    assert loaded(*lists("iti", "x" * 1020)) == Loaded(1, 1, 0)
    assert loaded(*lists("iti", "x" * 1000)) == Loaded(2, 0, 0)
    assert loaded(*lists("ti", "ü" * 600)) == Loaded(0, 1, 0)  # bytes, not characters


def test_images_without_a_file_are_not_counted() -> None:
    assert loaded(["a", None, None], [None, None, "f"]) == Loaded(1, 0, 0)


def test_the_ledgers_balance() -> None:
    tally = LoaderLedgers()
    for order, text in (("ti" * 8, "a"), ("iti", "x" * 2000), ("ti", "x" * 2000)):
        tally.add(loaded(*lists(order, text)))
    assert tally.documents.to_json() == {"in": 3, "kept": 2, "dropped": {"beyond_256_tokens": 1}, "failed": {}}
    assert tally.images.to_json()["dropped"] == {"beyond_256_tokens": 2, "over_6_images": 3}
    assert tally.documents.balanced() and tally.images.balanced() and tally.images.entered == 11
