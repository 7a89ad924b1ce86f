"""A document with the results of its images: the decision whether it goes into a shard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from obelics_pipeline.core.config.run import RunConfig
from obelics_pipeline.core.document import DOCUMENT_DROPPED, Document, ImageNode, asked_as
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.policy.forgotten import FORGOTTEN, Forgotten, blank_image
from obelics_pipeline.policy.opt_outs.lists import NO_LISTS, OptOuts
from obelics_pipeline.stages.fetch.image_rules import image_reason, rendered_size, url_reason
from obelics_pipeline.stages.shard.finish import ParagraphScore, finish, lack

NOT_FETCHED = "not_fetched"  # the fetch stage has no answer for a URL: it was never asked, or its unit failed


class Fetched(Protocol):
    """The fetch stage's result for one URL. Sizes are those of the stored image, in pixels and bytes."""

    @property
    def status(self) -> str:
        """ok, dropped (a rule or an opt-out) or failed."""

    @property
    def reason(self) -> str | None:
        """Why it is not ok; None where it is."""

    @property
    def sha256(self) -> str | None:
        """Of the stored bytes; None where there are none."""

    @property
    def pack(self) -> str | None:
        """Which pack has them; None where they have a file of their own."""

    @property
    def offset(self) -> int | None:
        """Where they begin in it."""

    @property
    def n_bytes(self) -> int | None:
        """How many bytes."""

    @property
    def format(self) -> str | None:
        """As Pillow names it, lower case."""

    @property
    def width(self) -> int | None:
        """Pixels."""

    @property
    def height(self) -> int | None:
        """Pixels."""

    @property
    def phash(self) -> str | None:
        """Its perceptual hash."""

    @property
    def quality(self) -> Mapping[str, float] | None:
        """What was measured of its pixels, by name."""

    @property
    def duplicate_of(self) -> str | None:
        """The document that has it first, of an image that was dropped because too many have it."""


def assemble(
    document: Document,
    results: Mapping[str, Fetched],
    config: RunConfig,
    score: ParagraphScore,
    opt_outs: OptOuts = NO_LISTS,
    forgotten: Forgotten | None = None,
) -> Ledger:
    """Give every image of a document its facts or its reason, clean the document, and decide it.

    `results` maps what images are asked for by to what the fetch stage found; it is not looked at where fetching is
    disabled, and images are then kept unfetched. An image that `opt_outs` name, by its address or its bytes, is
    dropped. Changes `document` in place: `reason` is set to no_text or image_count where it is dropped, to forgotten
    where one with the same images was. Returns the ledger of its image references, each counted once.
    """
    for image in document.images():
        # such an image was never asked for
        image.reason = opt_outs.image_reason(image.src) or url_reason(image.src, config.images)
        if image.reason is None and config.fetch.enabled:
            _learn(image, results.get(asked_as(image)))
        if image.reason is None and image.sha256 is not None:
            image.reason = opt_outs.content_reason(image.sha256)
        if image.reason is None:
            image.reason = image_reason(image, config.images)
    finish(document, config.finish, score)
    if document.reason is None:
        limits = config.images
        document.reason = lack(
            document, limits.min_per_document, limits.max_per_document, config.finish.end_of_document_token
        )
    if forgotten is not None and document.reason is None and forgotten.image_set(document.images()):
        document.reason = FORGOTTEN
    return image_ledger(document)


def image_ledger(document: Document) -> Ledger:
    """Every image reference of a document, counted once: kept, dropped by a reason, or failed."""
    ledger = Ledger("images")
    for node in document.nodes:
        if not isinstance(node, ImageNode):
            continue
        if node.reason is not None:
            (ledger.fail if node.failed else ledger.drop)(node.reason)
        elif document.reason is not None:
            ledger.drop(DOCUMENT_DROPPED)
        else:
            ledger.keep()
    return ledger


def _learn(image: ImageNode, found: Fetched | None) -> None:
    """Take over the facts of the fetch, or its reason; a declared percentage becomes pixels, as published."""
    if found is None or found.status != "ok":
        image.reason = NOT_FETCHED if found is None else found.reason or found.status
        image.failed = found is None or found.status != "dropped"
        image.duplicate_of = None if found is None else found.duplicate_of
        if image.reason == FORGOTTEN:
            blank_image(image)
        return
    image.sha256, image.n_bytes, image.format, image.phash = found.sha256, found.n_bytes, found.format, found.phash
    image.pack, image.offset = found.pack, found.offset
    image.original_width, image.original_height = found.width, found.height
    image.scores = dict(found.quality or {})
    image.rendered_width, image.rendered_height = rendered_size(image)
