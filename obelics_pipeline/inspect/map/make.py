"""Making the map of a run, or finding it made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.map.stored import CorpusMap, digest_of, read_map, to_tables, write_map
from obelics_pipeline.inspect.map.words import count_words
from obelics_pipeline.inspect.run_tables.documents import document_table
from obelics_pipeline.inspect.run_tables.texts import in_file_order, texts_of

DOCUMENTS = 100_000  # of a map, at most, unless another number is asked for

Advance = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@dataclass(frozen=True)
class Made:
    """A map, and how it came about."""

    map: CorpusMap
    of: int  # documents of the run, those that the map leaves out among them
    fresh: bool  # False where it was there already


def make_map(folder: RunFolder, at_most: int = DOCUMENTS, threads: int = 1, advance: Advance = lambda *_: None) -> Made:
    """The map of a run's documents, dropped ones too; made where it is not there, or the documents have changed.

    Of more than `at_most` documents those with the smallest ids are taken: ids are hashes, so they are a fair sample.
    Raises UserError for a folder without extracted documents, and where the extra `tune` is not installed.
    """
    everything = document_table(folder)
    documents = take_sample(everything, at_most)
    digest = digest_of(documents)
    found = read_map(folder, digest)
    if found is not None:
        return Made(found, len(everything), False)
    try:
        from obelics_pipeline.inspect.map.project import project
    except ImportError as error:
        raise UserError(f"a map needs openTSNE: pip install 'obelics-pipeline[tune]' ({error})") from None
    documents = in_file_order(documents)
    try:
        words = count_words(_with_progress((text for _, text in texts_of(folder, documents)), len(documents), advance))
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{folder.path}: documents cannot be read ({' '.join(str(error).split())})") from None
    order = np.asarray(pc.sort_indices(documents["doc_id"]))  # the same map however documents are dealt to files
    languages = documents["language"].take(order).to_pylist()
    projected = project(words.take(order), languages, threads, advance)
    found = to_tables(documents["doc_id"].take(order).combine_chunks(), projected)
    write_map(folder, found, digest)
    return Made(found, len(everything), True)


def take_sample(documents: pa.Table, at_most: int) -> pa.Table:
    """The rows with the smallest ids, in the order in which they stand."""
    if len(documents) <= at_most:
        return documents
    chosen = np.sort(np.asarray(pc.sort_indices(documents["doc_id"]))[:at_most])
    return documents.take(chosen)


def _with_progress(texts: Iterator[str], total: int, advance: Advance) -> Iterator[str]:
    for done, text in enumerate(texts):
        advance("words", done, total)
        yield text
    advance("words", total, total)
