"""One document in a shard: a JSON member, and beside it the files of its images."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode, general_metadata, interleave, to_json

EXTENSIONS = {"jpeg": "jpg"}  # other formats of Pillow are their own extension: png, webp, gif
KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")  # no dot: WebDataset cuts a name at its first
BLOCK = 512  # bytes: the unit of a tar, for headers and for padding (POSIX ustar)


@dataclass(frozen=True, slots=True)
class RecordFile:
    """An image file of a record: its name after the key ("003.jpg") and which image of the run it holds."""

    name: str
    sha256: str
    n_bytes: int


ReadFile = Callable[[RecordFile], bytes]  # the bytes of an image file


@dataclass(frozen=True, slots=True)
class Record:
    """One document ready to be written. `json` is the first member, `<doc_id>.json`; `files` follow in page order."""

    doc_id: str
    json: bytes
    files: tuple[RecordFile, ...]
    n_texts: int
    n_images: int  # images of the interleaving; as many as `files`, unless they were not fetched

    @property
    def size(self) -> int:
        """Bytes the record takes in a tar, headers and padding included."""
        return record_size([len(self.json), *(file.n_bytes for file in self.files)])

    def members(self, read: ReadFile) -> Iterator[tuple[str, bytes]]:
        """Its members in the tar: name after the key, and bytes."""
        yield "json", self.json
        for file in self.files:
            yield file.name, read(file)

    @property
    def content_sha256(self) -> str:
        """See `content_sha256`."""
        hashes = [("json", hashlib.sha256(self.json).hexdigest()), *((f.name, f.sha256) for f in self.files)]
        return content_sha256((f"{self.doc_id}.{name}", sha256) for name, sha256 in hashes)


def make_record(document: Document, score_names: Sequence[str]) -> Record:
    """The record of a kept document. `score_names` is the run's list: every record has each of them, null if absent.

    Raises ValueError for a doc_id that is no WebDataset key.
    """
    if not KEY.fullmatch(document.doc_id):
        raise ValueError(f"document {document.doc_id!r}: the id must match {KEY.pattern}")
    shown = interleave(document.nodes, document.url)
    nodes = iter(document.images())
    add_captions(shown.metadata, document.nodes)
    names: list[str | None] = []
    files: list[RecordFile] = []
    for position, src in enumerate(shown.images):
        node = next(nodes) if src is not None else None
        if node is None or node.sha256 is None or node.n_bytes is None:
            names.append(None)
            continue
        files.append(RecordFile(f"{position:03d}.{extension(node.format)}", node.sha256, node.n_bytes))
        names.append(files[-1].name)
    value = {
        "doc_id": document.doc_id,
        "texts": shown.texts,
        "images": shown.images,
        "metadata": to_json(shown.metadata),
        "general_metadata": to_json(general_metadata(document)),
        "files": names,
        "scores": scores(document.scores, score_names),
        "language": document.language,
    }
    n_images = sum(image is not None for image in shown.images)
    return Record(document.doc_id, to_json(value).encode(), tuple(files), len(names) - n_images, n_images)


def add_captions(metadata: Sequence[dict[str, Any] | None], nodes: Sequence[Node]) -> None:
    """Add `caption` to the metadata of each image that the page's caption follows; in the texts it stands as well.

    The roles of paragraphs are not in a shard, and an image's caption is the best text that goes with it.
    """
    kept = [node for node in nodes if node.reason is None and not (isinstance(node, TextNode) and not node.text)]
    after = (b for a, b in pairwise([*kept, None]) if isinstance(a, ImageNode))
    for about, node in zip((about for about in metadata if about is not None), after, strict=True):
        if isinstance(node, TextNode) and node.role == "caption":
            about["caption"] = node.text


def scores(values: Mapping[str, float | None], names: Sequence[str]) -> dict[str, float | None]:
    """The scores of a document under the run's names; what was not measured, or is no number JSON has, is null."""
    found = {name: values.get(name) for name in names}
    return {name: float(v) if v is not None and math.isfinite(v) else None for name, v in found.items()}


def extension(format_: str | None) -> str:
    """The file extension of an image format as Pillow names it, lower case.

    Raises ValueError for a format that would make no file name.
    """
    name = EXTENSIONS.get(format_ or "", format_ or "")
    if not re.fullmatch(r"[a-z0-9]{1,10}", name):
        raise ValueError(f"image format {format_!r} is no file extension")
    return name


def record_size(member_bytes: Iterable[int]) -> int:
    """Bytes that members of these sizes take in a tar: each a header of one block, and padded to whole blocks."""
    return sum(BLOCK + -(-size // BLOCK) * BLOCK for size in member_bytes)


def content_sha256(members: Iterable[tuple[str, str]]) -> str:
    """The hash of a record: sha256 over one line `<sha256>  <name>` per member, in order, as sha256sum prints."""
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in members)
    return hashlib.sha256(lines.encode()).hexdigest()
