"""The job graphs for some options, built and checked without running anything: what a CI can hold on to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from apache_beam import Create, Pipeline
from google.protobuf.json_format import MessageToDict

from obelics_pipeline.beam_jobs.child_process import ChildProcess
from obelics_pipeline.beam_jobs.deduplicate_text import DeduplicateText
from obelics_pipeline.beam_jobs.engine import NOTES
from obelics_pipeline.beam_jobs.extract_documents import ExtractDocuments
from obelics_pipeline.beam_jobs.fetch_images import FetchImages
from obelics_pipeline.beam_jobs.graphs import build_map_models, build_map_units, build_shuffle
from obelics_pipeline.beam_jobs.options import runner_of
from obelics_pipeline.beam_jobs.outcomes import Outcomes
from obelics_pipeline.beam_jobs.runs import Build, new_pipeline
from obelics_pipeline.beam_jobs.write_shards import WriteShards
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import Location, location
from obelics_pipeline.engines.groups import as_they_are
from obelics_pipeline.jobs.main_job import UNIT_SECONDS
from obelics_pipeline.jobs.stages import PRELOAD
from obelics_pipeline.stages.extract.stage import extract_unit
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, model_columns
from obelics_pipeline.stages.score.stage import measure_unit


def draw(
    config: str, inputs: Sequence[str], output: str, overrides: Sequence[str], options: Sequence[str], file: Path
) -> None:
    """Write the graphs of the job's verbs, and of our transforms in a row, as JSON of Beam's portable form.

    Config and inputs are in them, pickled, without their secrets: a graph is for looking at.
    Raises UserError for options that Beam refuses, as running would.
    """
    loaded = load_config(config, overrides)
    where = location(output, loaded.reading.storage_options)
    checked = RunConfig.model_validate(redacted(loaded.model_dump()))
    builds: dict[str, Build] = {
        "map_units": map_units(checked, where),
        "map_models": map_models(checked, where),
        "shuffle": partial(
            build_shuffle,
            sources=[where / "messages.parquet"],
            column="bucket",
            reduce=as_they_are,
            output=where / "dealt",
        ),
        "transforms": partial(transforms, inputs=redacted(list(inputs)), output=where, config=checked),
    }
    graphs = {name: graph(build, options) for name, build in builds.items()}
    text = json.dumps({"runner": runner_of(options), "graphs": graphs}, indent=1, sort_keys=True) + "\n"
    file.write_text(text, encoding="utf-8")


def graph(build: Build, options: Sequence[str]) -> dict[str, Any]:
    """A pipeline as these options would hand it to their runner, environment included."""
    pipeline = new_pipeline(options)
    build(pipeline)
    environment = getattr(pipeline.runner, "default_environment", None)  # Flink's, Spark's and Dataflow's runners know
    made = environment(pipeline.options) if environment else None
    drawn: dict[str, Any] = MessageToDict(pipeline.to_runner_api(default_environment=made))
    return drawn


def map_units(config: RunConfig, output: Location) -> Build:
    """The extract stage of the main job."""
    return partial(
        build_map_units,
        work=partial(extract_unit, folder=output / "extract", config=config),
        files=[output / NOTES / "units" / "units-000000000.jsonl"],
        guard=ChildProcess(output, UNIT_SECONDS, PRELOAD),
        outcomes=Outcomes(output / NOTES / "outcomes"),
    )


def map_models(config: RunConfig, output: Location) -> Build:
    """The score stage of the main job."""
    work = partial(
        measure_unit,
        folder=output / "scores",
        document_folder=output / "assembled",
        columns=model_columns(config.models),
        measures=config.score.picture_measures,
    )
    return partial(
        build_map_models,
        make=LoadDocumentModels(config.models.model_dump_json(), RunImages(output / "images")),
        work=work,
        files=[output / NOTES / "units" / "units-000000000.jsonl"],
        guard=ChildProcess(output, UNIT_SECONDS, PRELOAD),
        outcomes=Outcomes(output / NOTES / "outcomes"),
    )


def transforms(pipeline: Pipeline, *, inputs: Sequence[str], output: Location, config: RunConfig) -> None:
    """Our transforms, one after the other, as docs/beam.md shows them."""
    (
        pipeline
        | Create(inputs)
        | ExtractDocuments(config)
        | FetchImages(config, output / "images")
        | DeduplicateText(config)
        | WriteShards(output, config, output / "images")
    )
