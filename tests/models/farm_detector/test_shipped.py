"""The detector of the package: what it is made of is told, and it tells a text from the same words out of order."""

from pathlib import Path
from random import Random

from obelics_pipeline.core.config import load_config
from obelics_pipeline.models.farm_detector.detector import all_bundled, load
from tests.prose_pages import prose_pages

DOCS = prose_pages()
SHIPPED = Path(all_bundled()["en"])


def test_what_made_it_is_told() -> None:
    assert SHIPPED.stat().st_size < 3 * 2**20
    about = load(str(SHIPPED)).about
    assert set(about) == {
        "documents", "families", "recall", "recall_left_out", "steps", "threshold", "trusted", "unusual", "versions",
        "words",
    }  # fmt: skip
    assert all(len(file["sha256"]) == 64 for file in (*about["trusted"], *about["unusual"]))
    assert set(about["recall"]) == set(about["families"])


def test_the_default_drops_nothing_that_is_below_the_threshold_of_the_detector() -> None:
    bounds = load_config("default").filters.document["farm_score"]
    assert bounds.max is not None
    assert load(str(SHIPPED)).about["threshold"] <= bounds.max < 1


def test_pages_of_these_docs_are_honest_and_with_their_words_out_of_order_they_are_not() -> None:
    detector, texts = load(str(SHIPPED)), [path.read_text("utf-8") for path in DOCS]
    bound = load_config("default").filters.document["farm_score"].max or 0
    honest = [detector.score(text) for text in texts]
    shuffled = [detector.score(shuffle(text)) for text in texts]
    assert sum(score is None or score > bound for score in honest) <= 0.1 * len(DOCS)
    assert all(score is not None and score > 0.9 for score in shuffled)


def shuffle(text: str) -> str:
    words = text.split()
    Random(1).shuffle(words)
    return " ".join(words)


def test_the_score_of_a_text_is_the_same_on_every_machine() -> None:
    detector = load(str(SHIPPED))
    letters = (f"The {n}th letter was put on the table, and nobody in the house knew who sent it." for n in range(9))
    assert detector.score(" ".join(letters)) == 0.028125
