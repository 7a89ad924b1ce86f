"""The models of a config, loaded as a worker loads them, look at images of a run's store and fill their columns."""

import hashlib
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.config import ScoringConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, model_columns
from tests.models.flamingo import tiny as flamingo
from tests.models.pictures.illustrated import png
from tests.models.similarity import tiny as similarity


def test_a_flamingo_and_a_similarity_score_the_same_documents_from_the_store(tmp_path: Path) -> None:
    content = png(similarity.drawing("a red bar"))
    assert ImageStore(tmp_path / "images").put(content) == hashlib.sha256(content).hexdigest()
    model, weights = similarity.save(tmp_path, similarity.towers())
    config = ScoringConfig.model_validate(
        {
            "flamingo": {"model": str(flamingo.saved(tmp_path / "flamingo")), "window_tokens": 200, "overlap": 20},
            "similarity": {"model": str(model), "weights": str(weights), "device": "cpu"},
            "threads": 1,
        }
    )
    there = ImageNode("http://i.example/a.png", "a", sha256=hashlib.sha256(content).hexdigest())
    gone = ImageNode("http://i.example/b.png", "b")
    documents = [
        Document("1", "http://a.example/", "w", 0, 1, [TextNode(flamingo.SENTENCES[0]), there, TextNode("A red bar.")]),
        Document("2", "http://a.example/", "w", 1, 1, [TextNode(flamingo.SENTENCES[1]), gone]),
    ]
    models = LoadDocumentModels(config.model_dump_json(), RunImages(tmp_path / "images"))()
    first, second = models.score(documents)
    assert list(first) == model_columns(config)
    assert (first["images_seen"], second["images_seen"]) == (1.0, 0.0)
    assert (first["similarity_images"], second["similarity_images"]) == (1.0, 0.0)
    assert there.similarity == first["image_text_similarity"]
    assert gone.similarity is None
    assert first["flamingo_loss"] is not None
    assert torch.get_num_threads() == 1


def test_an_image_that_the_store_has_lost_is_not_scored_as_if_there_were_none(tmp_path: Path) -> None:
    (images := tmp_path / "images").mkdir()
    lost = ImageNode("http://i.example/b.png", "b", sha256="0" * 64)
    with pytest.raises(Damaged, match="0" * 64):
        RunImages(images)(lost)
