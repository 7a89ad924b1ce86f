"""`ScoreDocuments`: a model's scores as columns of documents, by Beam's RunInference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.ml.inference.base import KeyedModelHandler, ModelHandler, RunInference
from apache_beam.pvalue import PCollection

from obelics_pipeline.beam_jobs.elements import from_bytes, input_position, is_kept, to_bytes
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, refuse_not_finite


class DocumentScorer(Protocol):
    """A model that measures documents.

    It gets the kept documents of one range of one WARC file, sorted, and may form batches among them as it likes:
    neither the runner nor the number of workers changes which documents come together, so scores are the same
    everywhere. What it writes are columns of the index; name them in `WriteShards(…, scores=…)`.
    """

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        """Scores by name for each document, in their order."""
        ...


class ScoreDocuments(beam.PTransform[Any, Any]):
    """PCollection[Document] -> PCollection[Document].

    Every document comes out once; kept ones with the scores of the model that `load` returns (called once per worker
    process, where the model is then shared). Dropped ones pass by. `load` is a module-level function or a partial of
    one. A group is what begins in the same `reading.unit_bytes` of a WARC file; a worker holds one at a time.

    Metrics are those of RunInference: `num_inferences` (groups), `inference_batch_latency_micro_secs`,
    `load_model_latency_milli_secs`. Resources of Beam are asked for as always:
    `ScoreDocuments(…).with_resource_hints(accelerator="type:nvidia-l4;count:1;install-nvidia-driver")`.
    """

    def __init__(self, load: Callable[[], DocumentScorer], config: RunConfig) -> None:
        super().__init__()
        self._load, self._unit_bytes = load, config.reading.unit_bytes

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """Group, infer, take apart."""
        dropped = pcoll | "Dropped" >> beam.Filter(lambda document: not is_kept(document)).with_output_types(Document)
        unit_bytes = self._unit_bytes
        scored = (
            pcoll
            | "Kept" >> beam.Filter(is_kept).with_output_types(Document)
            | "Key" >> beam.Map(lambda d: (group_of(d, unit_bytes), to_bytes(d))).with_output_types(tuple[str, bytes])
            | "Group" >> beam.GroupByKey()
            | "Sort" >> beam.MapTuple(sorted_group).with_output_types(tuple[str, list[bytes]])
            | "Infer" >> RunInference(KeyedModelHandler(_Handler(self._load)))
            | "Apart" >> beam.FlatMapTuple(lambda _key, group: map(from_bytes, group)).with_output_types(Document)
        )
        return (dropped, scored) | "Together" >> beam.Flatten().with_output_types(Document)


class _Handler(ModelHandler[list[bytes], list[bytes], DocumentScorer]):
    """Scores each group by itself: Beam's batches are of groups, and no model sees them."""

    def __init__(self, load: Callable[[], DocumentScorer]) -> None:
        self._load = load

    def load_model(self) -> DocumentScorer:
        return self._load()

    def run_inference(
        self, batch: Sequence[list[bytes]], model: DocumentScorer, inference_args: dict[str, Any] | None = None
    ) -> Iterable[list[bytes]]:
        return [score_group(group, model) for group in batch]

    def batch_elements_kwargs(self) -> Mapping[str, Any]:
        return {"min_batch_size": 1, "max_batch_size": 1}  # a group is a batch already


def score_group(group: Sequence[bytes], model: DocumentScorer) -> list[bytes]:
    """A group with its scores. Raises ValueError where the model left one out."""
    documents = [from_bytes(value) for value in group]
    scores = model.score(documents)
    if len(scores) != len(documents):
        raise ValueError(f"{type(model).__name__} gave {len(scores)} scores for {len(documents)} documents")
    for document, found in zip(documents, scores, strict=True):
        document.scores.update(found)
        refuse_not_finite(document, found)
    return [to_bytes(document) for document in documents]


def group_of(document: Document, unit_bytes: int) -> str:
    """The range of a WARC file that a document begins in."""
    return f"{document.warc_filename}\n{document.warc_record_offset // unit_bytes}"


def sorted_group(key: str, group: Iterable[bytes]) -> tuple[str, list[bytes]]:
    """The documents of a group, in the order of the input."""
    return key, [to_bytes(document) for document in sorted(map(from_bytes, group), key=input_position)]
