"""What the evidence of a document rests on, for people: its own sentences whose keys others share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from obelics_pipeline.core.commit import read_manifest, unit_names
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import read_table
from obelics_pipeline.filters.word_lists import stop_words
from obelics_pipeline.stages.site.keys import short_site
from obelics_pipeline.stages.site.passages import Keys, has_keys, long_sentences, sentence_key, skeleton, skeleton_keys
from obelics_pipeline.stages.site.shares import borrowed_sentences, repeated_skeletons, skeletons_elsewhere
from obelics_pipeline.stages.site.sharing import SENTENCE, SKELETON, Shared
from obelics_pipeline.stages.site.site_evidence import SHARED_FOLDER

SHOWN = 8  # passages of a document


@dataclass(frozen=True, slots=True)
class SharedPassage:
    """A sentence, or its skeleton, which others share: how many pages of its site have it, and on how many sites."""

    what: str
    text: str
    pages: int
    sites: int


def shared_with_others(folder: RunFolder, unit: str, document: Document) -> list[SharedPassage]:
    """The passages of a document, as the stage `site` met it, that count as shared, the most frequent first.

    `unit` is any unit of its part of the input. Empty where the run did not look for them.
    """
    place, site = folder.path / "site", short_site(document.url)
    names = unit_names(place, unit.rpartition("-")[0])
    manifest = read_manifest(place, names[0]) if names else None
    if manifest is None or site is None:
        return []
    tables = [read_table(folder.shuffled / SHARED_FOLDER / name) for name in manifest.notes["shared"]]
    found = sorted(_passages(document, site, Shared(tables)), key=lambda p: (-p.pages, -p.sites, p.text))
    return found[:SHOWN]


def _passages(document: Document, site: int, shared: Shared) -> Iterator[SharedPassage]:
    texts = [n.text for n in document.nodes if isinstance(n, TextNode) and has_keys(n.role, n.reason)]
    sentences = list(long_sentences(texts))
    keys = np.array([sentence_key(tokens) for _, tokens in sentences], np.uint64)
    pages, sites, _ = shared.look_up(SENTENCE, keys, site)
    has_skeletons = document.language is not None and stop_words(document.language) is not None
    for number, borrowed in enumerate(borrowed_sentences(keys, site, shared)):
        text, tokens = sentences[number]
        if borrowed:
            yield SharedPassage("sentence", text, int(pages[number]), int(sites[number]))
        elif has_skeletons and document.language is not None and sites[number] < 2:  # else a quotation
            yield from _skeletons(tokens, document.language, site, shared)


def _skeletons(tokens: list[str], language: str, site: int, shared: Shared) -> Iterator[SharedPassage]:
    """The skeleton of a sentence, if half of it is shared."""
    keys: Keys = skeleton_keys(tokens, language)
    counts = repeated_skeletons(keys, site, shared) | skeletons_elsewhere(keys, site, shared)
    if counts.any() and counts.mean() >= 0.5:
        pages, sites, _ = shared.look_up(SKELETON, keys[counts], site)
        yield SharedPassage("skeleton", skeleton(tokens, language), int(np.median(pages)), int(np.median(sites)))
