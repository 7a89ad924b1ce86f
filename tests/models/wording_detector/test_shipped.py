"""The detector that the package ships."""

from pathlib import Path

from obelics_pipeline.filters import Text, build
from obelics_pipeline.fit.wording_detector.command import LEARNED
from obelics_pipeline.models.wording_detector.detector import bundled, load

# A text of our own, and what a dictionary makes of it, word by word.
WRITTEN = (
    "In the morning she took the bus to the other side of the river, because she wanted to see the house in which her "
    "mother had been born. There was nobody at home, but a neighbour told her that the family had moved to the coast "
    "some years ago. She thanked him for his help, wrote down the name of the town and went back to the station. On "
    "the way she thought of what her mother would say about it."
)
TRANSLATED = (
    "At the morning has she one bus by the other side from the river taken, because she the house see wanted, at whom "
    "her mother born been is. It was nobody to house, but one neighbour said it that a family for some years on the "
    "coast drawn is. She thanked he to his help, wrote a name from the town up and went by the station back. At a way "
    "thought she on that, what its mother there over say became."
)


def test_it_is_small_and_tells_what_made_it() -> None:
    path = Path(str(bundled("en")))
    assert path.stat().st_size < 600_000
    about = load(str(path)).about
    assert set(about["recall"]) == set(about["families"]) == set(LEARNED)
    assert not set(about["recall_left_out"]) & set(LEARNED)
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in (*about["trusted"], *about["unusual"]))


def test_a_text_translated_word_by_word_is_told_from_one_that_was_written() -> None:
    measuring = build("wording_score")
    written, translated = (measuring.score(Text(text, "en")) for text in (WRITTEN, TRANSLATED))
    assert written is not None and translated is not None
    assert written < 0.5 and translated > 0.95
