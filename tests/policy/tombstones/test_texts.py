"""A text that was removed is known as far as the settings of its comparison say, bounds included."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config.dedup import TextConfig
from obelics_pipeline.policy.tombstones.keyed import make_key
from obelics_pipeline.policy.tombstones.texts import TextSet, read_texts, signed_texts, write_texts

TEXT = " ".join(f"word{n}" for n in range(60))


def removed(folder: Path, text: str, **settings: float) -> TextSet | None:
    keyed = make_key(folder / "key")
    config = TextConfig.model_validate(settings)
    name = write_texts(folder, config, signed_texts(keyed, config, [text]))
    return None if name is None else read_texts(folder / name, keyed)


@pytest.mark.parametrize("threshold", [1.0, 0.8])
def test_at_every_threshold_a_text_is_its_own_duplicate(tmp_path: Path, threshold: float) -> None:
    known = removed(tmp_path, TEXT, threshold=threshold)
    assert known is not None
    assert known.has(TEXT)
    assert known.has(TEXT.replace("word0 ", "other ", 1)) == (threshold < 1)
    assert not known.has(TEXT[::-1])


def test_a_text_of_as_many_characters_as_are_compared_is_known_and_a_shorter_one_is_not_stored(tmp_path: Path) -> None:
    text = "a text of six words here"
    known = removed(tmp_path, text, min_characters=len(text))
    assert known is not None
    assert known.has(text)
    assert removed(tmp_path, text, min_characters=len(text) + 1) is None
