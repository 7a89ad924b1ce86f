"""The default rules: from a simplified tree to nodes, of the whole page or of its main content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import Node
from obelics_pipeline.models.page_type import PageType
from obelics_pipeline.stages.extract.captions import in_captions, named_captions
from obelics_pipeline.stages.extract.comments import COMMENT, find_comments, find_reviews, is_thread, written
from obelics_pipeline.stages.extract.compose import compose
from obelics_pipeline.stages.extract.head import Head
from obelics_pipeline.stages.extract.headline import find_headline, repeats
from obelics_pipeline.stages.extract.image_candidates import Candidate, image_candidates, picture_name
from obelics_pipeline.stages.extract.image_roles import set_roles
from obelics_pipeline.stages.extract.links import LinkCounts
from obelics_pipeline.stages.extract.main_content import MainContent, find_main_content
from obelics_pipeline.stages.extract.main_features import main_features
from obelics_pipeline.stages.extract.main_images import main_images, page_images, picture_rows
from obelics_pipeline.stages.extract.markup import Markdown, Markup, Plain
from obelics_pipeline.stages.extract.page_numbers import page_numbers
from obelics_pipeline.stages.extract.page_scope import page_scope
from obelics_pipeline.stages.extract.page_type import find_page_type
from obelics_pipeline.stages.extract.posts import number_posts
from obelics_pipeline.stages.extract.repeated_links import repeated_links
from obelics_pipeline.stages.extract.repeated_texts import repeated_texts
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import TAG, SimplifiedTree

Flags = NDArray[np.bool_]  # one a row

_MARKUPS: dict[str, Markup] = {"plain": Plain(), "markdown": Markdown()}


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a page: a flag per row of the tree, True where it may stay, and the page's pictures.

    `roles`: those of the texts of headline, standfirst, captions and comments, and of pictures in comments, that no
    element tells, by row.
    `confidence`: how well the main content was likely told from the rest (see `MainContent`); None if it was not
    looked for. `page_type`: the page's kind; None where no main content was found.
    `posts`: where the page is a thread, the number of the post that each row is in (see `number_posts`).
    """

    rows: NDArray[np.bool_]
    pictures: Sequence[Candidate]
    roles: Mapping[int, str]
    confidence: float | None
    page_type: PageType | None = None
    posts: NDArray[np.int32] | None = None


def choose(
    tree: SimplifiedTree, url: str, source: bytes, head: Head, links: LinkCounts, config: ExtractionConfig
) -> Kept:
    """Choose what stays by the configured scope. `url` is the page's own, `source` its HTML, `links` tell its links."""
    confidence = None
    if config.scope == "main":
        texts, features = main_features(tree)
        page_type = find_page_type(page_numbers(tree, features, url, head, links, source))
        main = find_main_content(tree, (texts, features), page_type.kind)
        if main.kept.any():
            thread = is_thread(source, url)
            comments = _comments(tree, main, thread, page_type.kind, config)
            kept = _main(tree, main, comments, url, head, config)
            kept = _marked(tree, kept, comments, url, head) if config.comments == "mark" else kept
            kept = replace(kept, page_type=page_type)
            posts = number_posts(tree, main.kept) if thread else None
            return replace(kept, posts=posts) if posts is not None and (posts >= 0).any() else kept
        confidence = main.confidence  # all its text is in the frame, or it has pictures only
    rows = page_scope(tree)
    roles = _set_headline(tree, rows, url, head) if config.headline else {}
    pictures = page_images(tree, image_candidates(tree, url, head.base_href, rows))
    return Kept(rows, pictures, named_captions(tree, pictures) | roles, confidence)


def _main(
    tree: SimplifiedTree, main: MainContent, comments: Flags, url: str, head: Head, config: ExtractionConfig
) -> Kept:
    """What stays of the main content without its comments."""
    kept = main.kept & ~comments
    rows = kept & ~repeated_links(tree, kept)
    roles = _set_headline(tree, rows, url, head) if config.headline else {}
    candidates = image_candidates(tree, url, head.base_href, picture_rows(tree, rows) & ~comments)
    pictures = main_images(tree, kept, roles, candidates, lead=frozenset(map(picture_name, head.images)))
    captions = named_captions(tree, pictures)
    rows |= in_captions(tree, pictures)
    rows[list(captions)] = True
    rows[repeated_texts(tree, rows)] = False
    return Kept(rows, pictures, captions | roles, main.confidence)


def _comments(tree: SimplifiedTree, main: MainContent, thread: bool, kind: str, config: ExtractionConfig) -> Flags:
    """The rows of the comments, one flag a row; none where they are judged as any text, or are posts of a thread."""
    if thread or config.comments == "keep":
        return np.zeros(len(tree.rows), np.bool_)
    comments = find_comments(tree, main.kept)
    return comments | find_reviews(tree, main.kept) if kind == "product" else comments


def _marked(tree: SimplifiedTree, kept: Kept, comments: Flags, url: str, head: Head) -> Kept:
    """What is kept, and the texts and pictures of the comments by a role of their own."""
    theirs = written(tree, comments)
    texts = theirs & (tree.rows[:, TAG] == TEXT)
    if not texts.any():
        return kept
    candidates = image_candidates(tree, url, head.base_href, theirs)
    pictures = main_images(tree, kept.rows | theirs, (), candidates, lead=frozenset())
    rows = [*np.flatnonzero(texts).tolist(), *(picture.row for picture in pictures)]
    return replace(
        kept,
        rows=kept.rows | texts,
        pictures=sorted([*kept.pictures, *pictures], key=lambda picture: picture.row),
        roles={**kept.roles, **dict.fromkeys(rows, COMMENT)},
    )


def _set_headline(tree: SimplifiedTree, rows: NDArray[np.bool_], url: str, head: Head) -> dict[int, str]:
    """The roles of the headline's texts, which are kept from now on, each once."""
    names = [*urlsplit(url).netloc.split("."), head.site_name]
    roles = find_headline(tree, rows, names, head.titles, head.descriptions)
    rows[repeats(tree, roles)] = False
    rows[list(roles)] = True
    return roles


def nodes_of(tree: SimplifiedTree, kept: Kept, config: ExtractionConfig) -> list[Node]:
    """The nodes of what stays."""
    set_roles(tree, kept.rows, kept.pictures)
    for picture in kept.pictures:
        picture.image.role = kept.roles.get(picture.row, picture.image.role)
    return compose(
        tree, kept.rows, {c.row: c.image for c in kept.pictures}, _MARKUPS[config.markup], kept.roles, kept.posts
    )
