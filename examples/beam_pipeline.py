"""A pipeline of one's own: three of our transforms, and one filter of yours between them.

    python examples/beam_pipeline.py --input crawl/*.warc.gz --output out --runner FnApiRunner

All options that are not named here are Beam's own: the same file runs on Dataflow, Flink or Spark (docs/beam.md).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from obelics_pipeline.beam_jobs.deduplicate_text import DeduplicateText
from obelics_pipeline.beam_jobs.extract_documents import ExtractDocuments
from obelics_pipeline.beam_jobs.fetch_images import FetchImages
from obelics_pipeline.beam_jobs.write_shards import WriteShards
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges


def drop_shouting(document: Document) -> Document:
    """A rule of your own: a document with a reason is dropped, and counted under it."""
    letters = [c for c in document.text() if c.isalpha()]
    if document.reason is None and sum(c.isupper() for c in letters) > len(letters) / 2:
        return replace(document, reason="shouting")  # Beam asks that no element is changed: a new one
    return document


def main(argv: Sequence[str] | None = None) -> None:
    """Build the pipeline and run it."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--input", nargs="+", required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--config", default="default")
    parser.add_argument("--set", action="append", default=[])
    arguments, beam_options = parser.parse_known_args(argv)
    config = load_config(arguments.config, arguments.set)
    images = arguments.output / "images"
    with beam.Pipeline(options=PipelineOptions(beam_options)) as pipeline:
        (
            pipeline
            | beam.Create(plan_ranges(resolve_inputs(arguments.input, config.reading), config.reading))
            | ExtractDocuments(config)
            | beam.Map(drop_shouting).with_output_types(Document)
            | FetchImages(config, images)
            | DeduplicateText(config)
            | WriteShards(arguments.output, config, images)
        )


if __name__ == "__main__":
    main()
