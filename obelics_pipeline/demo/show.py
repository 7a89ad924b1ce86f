"""Prints one document of a finished run as a person reads it."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from obelics_pipeline.core.errors import UserError

MOST_WORDS = 700
"""A document to be read in a terminal: one with more words is shown only if there is no other."""


def print_document(folder: Path, console: Console) -> None:
    """Print one good document of the first shard: texts wrapped, an image as one line with its size, format and name.

    The choice follows from the shard alone. Raises UserError where the run made no shard, or an empty one.
    """
    shards = sorted((folder / "shards").glob("*.tar"))
    documents = read_documents(shards[0]) if shards else []
    if not documents:
        raise UserError(f"{folder}: no document in its shards to show; look into manifest.json for what was dropped")
    for line in lines_of(choose(documents)):
        console.print(line, soft_wrap=not console.is_terminal, highlight=False)


def read_documents(shard: Path) -> list[dict[str, Any]]:
    """The JSON of every document of a shard, in order."""
    with tarfile.open(shard) as tar:
        members = (tar.extractfile(member) for member in tar if member.name.endswith(".json"))
        return [json.loads(stream.read()) for stream in members if stream is not None]


def choose(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The document with the most images among those of readable length; among equals the one with more words."""

    def rank(document: dict[str, Any]) -> tuple[bool, int, int]:
        words = sum(len(text.split()) for text in document["texts"] if text)
        images = sum(image is not None for image in document["images"])
        return words <= MOST_WORDS, images, words

    return max(documents, key=rank)


def lines_of(document: dict[str, Any]) -> list[str]:
    """The document's lines with rich's markup: paragraphs, and images in brackets."""
    metadata = document["metadata"]
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    lines: list[str] = []
    for text, about in zip(document["texts"], metadata, strict=True):
        if text is not None:
            lines.extend(escape(paragraph) + "\n" for paragraph in text.split("\n\n"))
        else:
            lines.append(f"[cyan]{escape(describe(about))}[/cyan]\n")
    return lines


def describe(about: dict[str, Any]) -> str:
    """An image as one line: `[image 640x480 jpeg harbour.jpg "alternative text"]`, without what is not known."""
    size = f"{about['original_width']}x{about['original_height']}" if about.get("original_width") else None
    name = about["src"].split("?")[0].rpartition("/")[2]
    alt = f'"{about["alt_text"]}"' if about.get("alt_text") else None
    return "[" + " ".join(part for part in ("image", size, about.get("format"), name, alt) if part) + "]"
