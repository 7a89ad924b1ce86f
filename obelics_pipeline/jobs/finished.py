"""A finished run, read: its documents, images and scores. Only what its manifest names is read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.document import Document, ImageNode, is_image_measure
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.shards.index import with_added
from obelics_pipeline.core.shards.look_up import NoLookUp, by_id, by_url
from obelics_pipeline.core.shards.manifest import RunManifest, part_is_whole, read_manifest
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.shards.source import StoredDocument, all_documents, document_at
from obelics_pipeline.core.storage import Location, location
from obelics_pipeline.jobs.score_rows.document_of_row import document_of_row
from obelics_pipeline.stages.rows.row_error import RowError

if TYPE_CHECKING:
    import pandas as pd


class StoredImage(NamedTuple):
    """An image of a kept document: what the page and the fetch say of it, and the bytes of its file."""

    doc_id: str
    node: ImageNode
    data: bytes


class Run:
    """The folder of a finished run: its `--output`, a path or a URL such as s3://bucket/run.

    `storage_options` are those of fsspec, by protocol, as in the config's section `reading`. Raises `UserError` where
    no finished run is there. What is damaged, or is not what the manifest names, raises `UserError` when it is read.

    >>> import obelics_pipeline as op
    >>> run = op.Run(finished)
    >>> len(run), run.manifest.counts()["shards"]
    (6, 1)
    >>> [document.text()[:9] for document in run.documents()][:2]
    ['The bench', 'The ladde']
    >>> run.to_arrow(["word_count"]).to_pylist()[0]
    {'word_count': 39.0}
    """

    def __init__(self, path: str | Path, storage_options: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        base = location(str(path), storage_options)
        self.path: Location = revisions_of(base).current()  # stays it while another becomes current
        self.manifest: RunManifest = read_manifest(self.path)

    def __len__(self) -> int:
        return self.manifest.counts()["documents"]

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}): {len(self):,} documents"

    def documents(self) -> Iterator[Document]:
        """The kept documents in the order of the index; one is held in memory at a time.

        A text between two images is one node, as in the shards. `scores` and `language` are those of the run.
        What the run dropped is not in its shards; `obelics report` and `obelics explain` show it.
        """
        self._check_index()
        for found in all_documents(self.path):
            yield _document(found, self.path)

    def document(self, which: str) -> Document | None:
        """The kept document with this id or URL; None where none has it. Of the parts of one page it is the first.

        The look-up of the run says where it stands, so that a run of any size is asked for three ranges of files. Where
        a run has none, or a damaged one, a warning says so, and its index is read whole.

        >>> import obelics_pipeline as op
        >>> run = op.Run(finished)
        >>> first = next(run.documents())
        >>> run.document(first.url) == run.document(first.doc_id) == first, run.document("https://example.org/")
        (True, None)
        """
        by_its_url = "://" in which
        try:
            if by_its_url:
                found = by_url(self.path, self.manifest, [which]).get(which, [])
            else:
                found = list(by_id(self.path, self.manifest, [which]).values())
        except NoLookUp as why:
            warnings.warn(str(why), stacklevel=2)
            table = self.to_arrow()
            rows = table.filter(pc.equal(table["url" if by_its_url else "doc_id"], which)).slice(0, 1).to_pylist()
            found = [document_at(self.path, row) for row in rows]
        return _document(found[0], self.path) if found else None

    def images(self) -> Iterator[StoredImage]:
        """The images of the kept documents with the bytes of their files, in the same order."""
        self._check_index()
        for found in all_documents(self.path):
            for name, node in _images(found, _document(found, self.path)):
                yield StoredImage(found.record.doc_id, node, found.images[name])

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The index as a table: a row per kept document, of where it came from, its language, the kind of its page
        (`page_type`) and every score.

        `columns` names those that are wanted; None: all. Texts and images are in the shards: see `documents`. Raises
        `UserError` for a column that is not there.
        """
        self._check_index()
        table = with_added(demand_index(self.path).table())
        for name in columns or ():
            if name not in table.column_names:
                raise UserError(f"{self.path}: no column {name}; valid columns: {', '.join(table.column_names)}")
        return table if columns is None else table.select(list(columns))

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """The same as a DataFrame. Raises `UserError` where pandas is not installed."""
        table = self.to_arrow(columns)
        try:
            frame: pd.DataFrame = table.to_pandas()
        except ModuleNotFoundError:
            raise UserError("Run.to_pandas needs pandas: pip install pandas; or use Run.to_arrow") from None
        return frame

    def torch_dataset(self) -> RunDataset:
        """A dataset for `torch.utils.data.DataLoader`, by number: see `RunDataset`."""
        return RunDataset(self.path, self.to_arrow(_PLACED).to_pylist())

    def _check_index(self) -> None:
        _ = self._whole

    @cached_property
    def _whole(self) -> bool:
        for part in read_manifest(self.path).index:  # of today: links may lead to another revision by now
            if not part_is_whole(self.path, part):
                path = self.path / part.name
                raise UserError(f"{path}: is not what the manifest names; obelics validate {self.path} says more")
        return True


_PLACED = ("shard", "offset", "length", "doc_id", "content_sha256", "n_texts", "n_images", "n_files")


class RunDataset:
    """The documents of a run by number, each read from its shard when it is asked for: a map-style dataset of torch.

    An element is a dict with `doc_id`, `url`, `language`, `page_type` and `scores`. Three lists have one length and the
    order of the page: `texts` (str or None), `images` (the bytes of a file, or None), `metadata` (a dict or None).
    Worker processes get the places of the documents, not their bytes. Lists differ in length, so give the loader a
    `collate_fn`, such as `list`.

    >>> import obelics_pipeline as op
    >>> dataset = op.Run(finished).torch_dataset()
    >>> len(dataset), dataset[1]["texts"][0][:10], dataset[1]["images"]
    (6, 'The ladder', [None])
    """

    def __init__(self, folder: Location, rows: list[dict[str, Any]]) -> None:
        self._folder, self._rows = folder, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> dict[str, Any]:
        """One document. Raises IndexError beyond the last, and `UserError` where its shard is damaged."""
        found = document_at(self._folder, self._rows[number])
        document = _document(found, self._folder)
        files = found.value["files"]
        return {
            "doc_id": document.doc_id,
            "url": document.url,
            "language": document.language,
            "page_type": document.page_type,
            "scores": document.scores,
            "texts": found.value["texts"],
            "images": [None if name is None else found.images[name] for name in files],
            "metadata": found.metadata(),
        }


def _document(found: StoredDocument, folder: Location) -> Document:
    """The document of a record, its images with the names of their bytes."""
    try:
        document = document_of_row(found.value)
        document.language, document.scores = found.value["language"], found.value["scores"]
        for name, node in _images(found, document):
            file = next(file for file in found.record.files if file.name == name)
            node.sha256, node.n_bytes = file.sha256, file.n_bytes
    except (RowError, KeyError, TypeError, ValueError, StopIteration) as error:
        reason = f"document {found.record.doc_id}: {' '.join(str(error).split())}"[:200]
        raise UserError(f"{folder}: cannot be read ({reason}); obelics validate {folder} says more") from None
    for node, about in zip(document.images(), filter(None, found.metadata()), strict=False):
        node.similarity, node.unsafe = about.get("similarity"), about.get("unsafe")
        node.scores = {name: value for name, value in about.items() if is_image_measure(name)}
    return document


def _images(found: StoredDocument, document: Document) -> Iterator[tuple[str, ImageNode]]:
    """The images that have a file, each with the file's name."""
    places = zip(found.value["images"], found.value["files"], strict=True)
    names = [name for image, name in places if image is not None]
    for name, node in zip(names, document.images(), strict=True):
        if name is not None:
            yield name, node
