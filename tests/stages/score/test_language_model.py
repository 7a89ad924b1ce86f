"""A language model in the score stage: the same columns on every engine, and a loss that is no number fails."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

torch = pytest.importorskip("torch")

from obelics_pipeline.beam_jobs.elements import from_bytes, to_bytes
from obelics_pipeline.beam_jobs.engine import BeamEngine
from obelics_pipeline.beam_jobs.options import local_options
from obelics_pipeline.beam_jobs.score_documents import ScoreDocuments
from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import JudgeConfig, RunConfig, ScoringConfig
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode, make_doc_id
from obelics_pipeline.core.storage import read_table
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.on_ray.engine import RayEngine
from obelics_pipeline.models.language_model.columns import COLUMNS
from obelics_pipeline.models.pictures.sources import no_images
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, located, model_columns
from obelics_pipeline.stages.score.identity import models_identity
from obelics_pipeline.stages.score.stage import decide_unit, decide_units, measure_unit, measure_units
from tests.engines.cluster import ray_cluster
from tests.models.language_model import tiny, tiny_vlm
from tests.models.pictures.illustrated import noise, png
from tests.stages.score.test_stage import assembled

URL = "http://i.example/1.png"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_vlm.saved(tmp_path_factory.mktemp("model"), "smolvlm")


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other weights, the same tokenizer."""
    return tiny_vlm.saved(tmp_path_factory.mktemp("twin"), "smolvlm", seed=1)


def config_of(model: Path, **values: Any) -> ScoringConfig:
    settings = {"model": str(model), "window_tokens": 120, "overlap": 20, "batch_tokens": 300}
    return ScoringConfig.model_validate({"language_model": settings | values, "threads": 1})


def document(number: int, sentences: int, sha256: str | None = None) -> Document:
    chance = random.Random(number)
    texts = [TextNode(chance.choice(tiny.SENTENCES)) for _ in range(sentences)]
    image = ImageNode(URL, URL, sha256=sha256, format="png")
    return Document(make_doc_id("w", number), "http://a.example/", "w", number, 1, [image, *texts], language="en")


def documents(sha256: str) -> list[Document]:
    return [document(number, number % 5, sha256) for number in range(7)]


def measured(engine: Any, config: ScoringConfig, folder: Path, of: Sequence[Manifest]) -> list[list[dict[str, Any]]]:
    """The rows of each unit, as an engine's workers measure them."""
    make = LoadDocumentModels(located(config).model_dump_json(), RunImages(folder / "images"))
    work = partial(
        measure_unit, folder=folder / "scores", document_folder=folder / "assembled", columns=model_columns(config)
    )
    units = measure_units(of, models_identity(config))
    with engine:
        done = {unit.label: outcome for unit, outcome in engine.map_models(make, work, units)}
    assert all(isinstance(outcome, Manifest) for outcome in done.values()), done
    found = {name: read_table(outcome.path(folder / "scores", "data")).to_pylist() for name, outcome in done.items()}
    return [found[name] for name in sorted(found)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_cluster(nodes=1) as started:
        yield started


@pytest.mark.slow
def test_the_columns_are_the_same_on_the_local_engine_on_ray_and_on_beam(
    model: Path, twin: Path, cluster: Any, tmp_path: Path
) -> None:
    config, found = config_of(model, second_model=str(twin)), {}
    engines = {
        "local": lambda folder: LocalEngine(1, folder, 300),
        "ray": lambda folder: RayEngine(cluster.address, None, folder, 300, RayConfig(start_seconds=60)),
        "beam": lambda folder: BeamEngine(local_options(1), folder, 300),
    }
    for name, open_engine in engines.items():
        folder = tmp_path / name
        sha256 = ImageStore(folder / "images").put(png(noise(16)[0]))
        of = [assembled(folder / "assembled", documents(sha256), unit) for unit in ("u", "v")]
        (folder / "engine").mkdir()
        found[name] = measured(open_engine(folder / "engine"), config, folder, of)
    assert found["ray"] == found["local"]
    assert found["beam"] == found["local"]
    assert found["local"][0] == found["local"][1]
    rows = found["local"][0]
    assert set(COLUMNS) < rows[0].keys()
    assert [row["lm_loss"] is None for row in rows] == [number % 5 == 0 for number in range(7)]
    assert {row["lm_images_seen"] for row in rows} == {1.0}
    assert all(row["lm_binoculars"] > 0 and row["lm_image_gain"] != 0 for row in rows if row["lm_tokens"])

    images = RunImages(tmp_path / "local" / "images")
    with beam.Pipeline(options=PipelineOptions(local_options(1))) as pipeline:
        (
            pipeline
            | beam.Create(documents(sha256))
            | ScoreDocuments(LoadDocumentModels(located(config).model_dump_json(), images), RunConfig())
            | beam.Map(lambda d: to_bytes(d).hex())
            | beam.io.WriteToText(str(tmp_path / "found"), shard_name_template="")
        )
    lines = (tmp_path / "found").read_text().splitlines()
    inferred = {d.doc_id: d.scores for d in (from_bytes(bytes.fromhex(line)) for line in lines)}
    assert inferred == {row["doc_id"]: {name: row[name] for name in COLUMNS} for row in rows}


@pytest.mark.parametrize("family", [None, *tiny_vlm.FAMILIES])
@pytest.mark.parametrize("bounds", [{}, {"lm_loss": {"max": 1e9}}, {"lm_loss": {"sample": [[0, 1]]}}])
def test_a_loss_that_is_no_number_fails_its_document_whatever_the_bounds(
    bounds: Any, family: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    config = config_of(tiny.saved(folder) if family is None else tiny_vlm.saved(folder, family))
    columns = model_columns(config)
    scorer = LoadDocumentModels(config.model_dump_json(), no_images)()
    with torch.no_grad():  # as bfloat16 overflows at some texts: a model that always does is refused when it is loaded
        scorer._scorers[0].model.head.layer.weight[0] = math.nan  # type: ignore[attr-defined]
    of = assembled(tmp_path / "assembled", [document(1, 3), document(2, 0)])
    [unit] = measure_units([of], "broken")
    scores = measure_unit(
        unit, scorer, folder=tmp_path / "scores", document_folder=tmp_path / "assembled", columns=columns
    )
    limits = ScoringConfig.model_validate({"document": bounds}).document
    [unit] = decide_units([of], [scores], limits)
    decided = decide_unit(
        unit, folder=tmp_path / "scored", document_folder=tmp_path / "assembled", score_folder=tmp_path / "scores",
        columns=columns, bounds=limits,
    )  # fmt: skip
    found = {d.doc_id: d.reason for d in read_documents(decided.path(tmp_path / "scored", "data"))}
    assert found == {make_doc_id("w", 1): "not_finite", make_doc_id("w", 2): None}
    assert decided.ledgers["documents"].to_json() == {"in": 2, "kept": 1, "dropped": {}, "failed": {"not_finite": 1}}


def test_a_judge_answers_for_the_documents_that_another_models_score_chooses(tmp_path: Path) -> None:
    folder = tiny.saved(tmp_path / "model")
    judge = {"model": str(folder), "prompt": "1 to 5? {document}", "window_tokens": 200}
    config = config_of(folder).model_copy(
        update={"judge": JudgeConfig.model_validate(judge | {"only": {"lm_tokens": {"min": 60}}})}
    )
    models = LoadDocumentModels(config.model_dump_json(), no_images)()
    language_model, some = models._scorers
    assert some.scorer.model is language_model.model  # type: ignore[attr-defined]  # of one folder: loaded once
    found = models.score([document(n, n) for n in range(6)])
    assert [row["judge_score"] is not None for row in found] == [(row["lm_tokens"] or 0) >= 60 for row in found]
    scores = [row["judge_score"] for row in found if row["judge_score"] is not None]
    assert 0 < len(scores) < 6
    assert all(1 <= score <= 5 for score in scores)
    assert [*found[0]] == model_columns(config)
