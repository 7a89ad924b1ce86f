"""Interleaved documents to learn from, each with the files of its images."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.check_record import NotJson
from obelics_pipeline.core.shards.flamingo_record import plain_members
from obelics_pipeline.core.storage import file_sha256, location
from obelics_pipeline.fit.texts import TextFile, text_files
from obelics_pipeline.models.pictures.sources import ImageSource
from obelics_pipeline.stages.shard.readback import webdataset_samples

COLUMNS = ("texts", "images", "text", "doc_id", "id")


@dataclass(frozen=True, slots=True)
class WithImages:
    """A document, and the bytes of its available images by their `src`."""

    document: Document
    files: Mapping[str, bytes]


@dataclass
class DocumentFile:
    """Parquet or JSON lines; the images are what `images` gives for their URLs."""

    rows: TextFile
    images: ImageSource

    def documents(self) -> Iterator[WithImages]:
        """The documents, in order. Raises UserError where the file cannot be read to its end."""
        for document in self.rows.rows(COLUMNS, document_of):
            found = {image.src: self.images(image) for image in document.images()}
            yield WithImages(document, {src: content for src, content in found.items() if content is not None})

    def description(self) -> dict[str, Any]:
        """What was read, for the record of a model."""
        return self.rows.description()

    def __str__(self) -> str:
        return str(self.rows)


@dataclass
class RunFolder:
    """The shards of a finished run, which hold their images."""

    folder: Path
    read: dict[str, int] = field(default_factory=dict)

    def documents(self) -> Iterator[WithImages]:
        """The documents, shard by shard. Raises UserError where a shard is damaged."""
        self.read = {}
        for shard in _shards(self.folder):
            self.read[shard.name] = 0
            try:
                for _, found in webdataset_samples(shard):
                    members = plain_members(found)
                    row = json.loads(members["json"])
                    document = document_of(row) if isinstance(row, dict) else "not an object"
                    if isinstance(document, str):
                        raise ValueError(document)
                    named = zip(row["images"], row["files"], strict=True)
                    yield WithImages(document, {src: members[name] for src, name in named if name is not None})
                    self.read[shard.name] += 1
            except (OSError, ValueError, KeyError, TypeError, NotJson, tarfile.TarError) as error:
                reason = " ".join(str(error).split())[:200]
                raise UserError(
                    f"{shard}: cannot be read ({reason}); obelics validate {self.folder} says more"
                ) from None

    def description(self) -> dict[str, Any]:
        """As `DocumentFile.description`."""
        shards = [
            {"name": shard.name, "sha256": file_sha256(location(str(shard))), "texts": self.read.get(shard.name, 0)}
            for shard in _shards(self.folder)
        ]
        return {"name": self.folder.name, "shards": shards}

    def __str__(self) -> str:
        return f"{self.folder.name}: {sum(self.read.values()):,} documents of its shards"


def document_sources(patterns: Sequence[str], images: ImageSource) -> list[DocumentFile | RunFolder]:
    """What paths, globs, URLs and folders of runs name, in that order. Raises UserError where there is nothing."""
    found: list[DocumentFile | RunFolder] = []
    for pattern in patterns:
        if "://" not in pattern and Path(pattern).is_dir():
            if not _shards(Path(pattern)):
                raise UserError(f"{pattern}: no finished run: it has no shards/*.tar; give such a folder, or files")
            found.append(RunFolder(Path(pattern)))
        else:
            found += [DocumentFile(rows, images) for rows in text_files([pattern])]
    return found


def _shards(folder: Path) -> list[Path]:
    return sorted((folder / "shards").glob("*.tar"))


def document_of(row: Any) -> Document | str:
    """The document of a row, with the published columns or one `text`; or what is wrong with the row."""
    texts, images = row.get("texts"), row.get("images")
    if isinstance(texts, list):
        images = [None] * len(texts) if images is None else images
        if not isinstance(images, list) or len(images) != len(texts):
            return "with texts and images of different length"
        nodes = [_node(text, image) for text, image in zip(texts, images, strict=True)]
    else:
        nodes = [_node(row.get("text"), None)]
    kept = [node for node in nodes if node is not None]
    if len(kept) < len(nodes):
        return "without text" if not isinstance(texts, list) else "with neither a text nor an image at a place, or both"
    if not any(isinstance(node, TextNode) and node.text.strip() for node in kept):
        return "with empty text"
    name = row.get("doc_id", row.get("id"))
    return Document("" if name is None else str(name), "", "", 0, 0, kept)


def _node(text: Any, image: Any) -> Node | None:
    if isinstance(text, str) and image is None:
        return TextNode(text)
    if isinstance(image, str) and text is None:
        return ImageNode(image, image)
    return None
