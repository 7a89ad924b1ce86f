"""Tars of image-text pairs as img2dataset writes them, from documents as they come."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.source import StoredDocument
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.core.storage import Location, draft, file_sha256, names_in, remove, write_bytes
from obelics_pipeline.stages.shard.pairs import pair_of

FOLDER, INDEX, MANIFEST = "laion", "laion.parquet", "laion.json"
ROWS = pa.schema(
    [
        pa.field("shard", pa.string(), nullable=False),
        pa.field("key", pa.string(), nullable=False),  # in the tar: <key>.jpg or .png, <key>.txt, <key>.json
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),  # of the image in its document
        pa.field("src", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),  # which key of the image's metadata the text is from
        pa.field("sha256", pa.string(), nullable=False),  # of the image
    ]
)
ROWS_PER_GROUP = 8192


def pair_tar_name(number: int) -> str:
    """The file name of a tar of pairs by its number, from 0."""
    return f"laion-{number:06d}.tar"


class PairWriter:
    """Writes `laion/*.tar`, `laion.parquet` (a row per pair) and, last, `laion.json` (what was kept and dropped).

    `add` takes a document; `cut` says that a tar may end here, which it does if it holds a pair: an empty tar is the
    end of the data to its readers. Use as a context manager.
    """

    def __init__(self, output: Location) -> None:
        self._output = output
        self._open = ExitStack()
        self._tar: ShardWriter | None = None
        self._index = ExitStack()
        self._rows: list[dict[str, Any]] = []
        self._tars: list[dict[str, Any]] = []
        self._in_tar = 0
        self._sources: Counter[str] = Counter()
        self.ledger = Ledger("pairs")

    def __enter__(self) -> PairWriter:
        remove([self._output / MANIFEST])
        path = self._index.enter_context(draft(self._output / INDEX))
        self._parquet = self._index.enter_context(pq.ParquetWriter(path, ROWS, compression="zstd"))
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None) -> None:
        if kind is not None:
            self._open.__exit__(kind, e, t)
            self._index.__exit__(kind, e, t)
            return
        self.cut()
        self._flush()
        self._index.close()
        folder = self._output / FOLDER
        written = {tar["name"] for tar in self._tars}
        remove(folder / name for name in names_in(folder) if name.endswith(".tar") and name not in written)
        value = {"pairs": self.ledger.to_json(), "sources": dict(sorted(self._sources.items())), "tars": self._tars}
        write_bytes(self._output / MANIFEST, (json.dumps(value, indent=1) + "\n").encode())

    @property
    def tars(self) -> int:
        """How many tars are finished."""
        return len(self._tars)

    def add(self, found: StoredDocument) -> None:
        """Write the pairs of one document. Each image that has a file is counted, as kept or by its reason."""
        places = zip(found.value["files"], found.metadata(), strict=True)
        files = {file.name: file for file in found.record.files}
        for position, (name, about) in enumerate(places):
            if name is None or about is None:
                continue
            pair = pair_of(about, name, files[name].n_bytes)
            if isinstance(pair, str):
                self.ledger.drop(pair)
                continue
            self.ledger.keep()
            self._sources[pair.source] += 1
            row = {
                "shard": pair_tar_name(len(self._tars)),
                "key": f"{found.record.doc_id}-{position:03d}",
                "doc_id": found.record.doc_id,
                "position": position,
                "src": about["src"],
                "source": pair.source,
                "sha256": files[name].sha256,
            }
            about_pair = {k: v for k, v in row.items() if k not in ("shard", "key")}
            members = {name.rpartition(".")[2]: found.images[name], "txt": pair.text.encode()}
            self._writer().append(row["key"], [*members.items(), ("json", to_json(about_pair).encode())])
            self._in_tar += 1
            self._rows.append(row)
            if len(self._rows) == ROWS_PER_GROUP:
                self._flush()

    def cut(self) -> None:
        """End the tar that is being written, if one is."""
        if self._tar is None:
            return
        self._open.close()
        self._tar = None
        name = pair_tar_name(len(self._tars))
        self._tars.append({"name": name, "sha256": file_sha256(self._output / FOLDER / name), "pairs": self._in_tar})
        self._in_tar = 0

    def _writer(self) -> ShardWriter:
        if self._tar is None:
            target: Location = self._output / FOLDER / pair_tar_name(len(self._tars))
            path: Path = self._open.enter_context(draft(target))
            self._tar = self._open.enter_context(ShardWriter(path))
        return self._tar

    def _flush(self) -> None:
        if self._rows:
            self._parquet.write_table(pa.Table.from_pylist(self._rows, ROWS))
            self._rows = []
