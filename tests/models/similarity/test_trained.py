"""What the numbers mean: a CLIP that learned what shapes are called gives matching texts the higher similarity."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.models.similarity.loading import LoadSimilarity
from obelics_pipeline.models.similarity.scorer import SimilarityScorer
from tests.models.pictures.illustrated import document, png
from tests.models.similarity import tiny
from tests.models.similarity.tiny import CAPTIONS, similarities

pytestmark = pytest.mark.slow


def drawn(image: ImageNode, /) -> bytes:
    """`image:a red bar` shows one that was not in training."""
    return png(tiny.drawing(image.src.removeprefix("image:"), seed=7))


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> SimilarityScorer:
    model, weights = tiny.save(tmp_path_factory.mktemp("clip"), tiny.trained())
    return LoadSimilarity(str(model), str(weights), images=drawn, device="cpu")()


@cache
def another(caption: str) -> str:
    """A caption that shares no colour and no shape with this one."""
    _, colour, shape = caption.split()
    return next(c for c in CAPTIONS if colour not in c and shape not in c)


def test_a_matching_text_scores_higher_than_any_other(scorer: SimilarityScorer) -> None:
    given = [document(text, f"image:{caption}") for caption in CAPTIONS for text in CAPTIONS]
    scorer.score(given)
    values = iter(value for (value,) in similarities(given))
    table = [[next(values) or 0.0 for _ in CAPTIONS] for _ in CAPTIONS]
    assert [max(range(len(row)), key=row.__getitem__) for row in table] == list(range(len(CAPTIONS)))


def test_it_does_not_matter_on_which_side_the_matching_text_stands(scorer: SimilarityScorer) -> None:
    for caption in CAPTIONS:
        given = [
            document(caption, f"image:{caption}", another(caption)),
            document(another(caption), f"image:{caption}", caption),
            document(another(caption), f"image:{caption}", another(caption)),
        ]
        scorer.score(given)
        [[before], [after], [neither]] = similarities(given)
        assert before is not None and neither is not None and before == after and before > neither + 0.2


def test_a_document_is_told_from_one_whose_images_were_exchanged(scorer: SimilarityScorer) -> None:
    first, second = CAPTIONS[0], another(CAPTIONS[0])
    right = document(first, f"image:{first}", "-" * 400, "image:" + second, second)
    wrong = document(first, f"image:{second}", "-" * 400, "image:" + first, second)
    one, other = scorer.score([right, wrong])
    assert (one["image_text_similarity"] or 0) > (other["image_text_similarity"] or 0) + 0.2


def test_the_caption_is_found_at_the_near_end_of_a_long_text(scorer: SimilarityScorer) -> None:
    caption, other = CAPTIONS[0], another(CAPTIONS[0])
    long = " ".join([other] * 40)
    near, far = document(f"{long} {' '.join([caption] * 4)}", f"image:{caption}"), document(long, f"image:{caption}")
    scorer.score([near, far])
    [[found], [none]] = similarities([near, far])
    assert found is not None and none is not None and found > none + 0.2


def test_bfloat16_says_nearly_the_same(scorer: SimilarityScorer, tmp_path: Path) -> None:
    model, weights = tiny.save(tmp_path, tiny.trained())
    half = LoadSimilarity(str(model), str(weights), images=drawn, device="cpu", dtype="bfloat16")()
    given = [document(caption, f"image:{caption}") for caption in CAPTIONS]
    scorer.score(given)
    exact = similarities(given)
    half.score(given)
    for (one,), (other,) in zip(exact, similarities(given), strict=True):
        assert other == pytest.approx(one, abs=0.03)
