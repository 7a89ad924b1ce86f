"""Ingest: an image's bytes are judged and, if the config asks for it, changed before they are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.config.image_safety import ImageSafetyConfig, KnownAbuseConfig
from obelics_pipeline.models.pictures.decoding import decodable
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.policy.forgotten import FORGOTTEN, Forgotten
from obelics_pipeline.policy.image_safety.faces import Drop, without_faces
from obelics_pipeline.policy.image_safety.known_abuse import KnownAbuse, Match, known_abuse, prepare
from obelics_pipeline.policy.image_safety.pdq import pdq_of
from obelics_pipeline.policy.image_safety.report import Reporter, hook
from obelics_pipeline.policy.image_safety.strip import Unreadable, strip_metadata
from obelics_pipeline.stages.fetch.decoder import check_apart
from obelics_pipeline.stages.fetch.image_check import ImageFacts, decoding
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.reason import FACES, KNOWN_ABUSE
from obelics_pipeline.stages.fetch.reencode import Reencoder
from obelics_pipeline.stages.fetch.result import FetchResult

Documents = Callable[[str], Sequence[Mapping[str, Any]]]  # which documents have the image of a URL, for a report


def no_documents(_url: str) -> Sequence[Mapping[str, Any]]:
    """Nothing is known of documents."""
    return ()


def _ready(config: KnownAbuseConfig, lists: str) -> KnownAbuse | None:
    prepared = None if lists else prepare(config)
    identity = lists if prepared is None else prepared.identity
    return known_abuse(config, identity) if identity else None


class Ingest:
    """Takes images into a store. Safe to use from several threads; one image is decoded at a time."""

    def __init__(
        self,
        config: FetchingConfig,
        safety: ImageSafetyConfig,
        store: ImageStore,
        lists: str = "",
        documents: Documents = no_documents,
        forgotten: Forgotten | None = None,
        measures: Sequence[str] = (),
    ) -> None:
        """`lists` is the identity of the hash lists; they are made ready here where it is empty.

        `forgotten` says what was removed, `measures` what of the pixels is measured.

        Raises UserError for what is missing of what the config names.
        """
        self._config, self._safety, self._store, self._documents = config, safety, store, documents
        self.forgotten, self._measures = forgotten, tuple(measures)
        self._reencode = Reencoder(config) if config.reencode != "never" else None
        self._abuse = _ready(safety.known_abuse, lists)
        self._report = Reporter(safety.report) if safety.known_abuse.lists else None
        self._faces = None if safety.faces is None else hook(safety.faces, "image_safety.faces")

    def keep(self, content: bytes, urls: Sequence[str], came_from: str) -> FetchResult:
        """Store an image, and what is known of it; the result is of no URL yet.

        Raises FetchError where it is not to be kept: nothing of it is stored then. Raises UserError where a match could
        not be reported.
        """
        self._refuse_forgotten(content)
        self._refuse_listed(content, urls, came_from)
        changes = self._faces is not None or self._reencode is not None  # what is stored is what is measured
        facts = check_apart(content, self._config, () if changes else self._measures)
        self._refuse_look_alike(content, urls, came_from)
        received, phash = content, facts.phash
        content, facts = self._blurred(content, facts)
        if self._reencode is not None:
            content, facts = self._reencode(content, facts)
        if changes and self._measures:
            facts = self._measured(content, facts)
        return self._stored(content, replace(facts, phash=phash), received)

    def keep_again(self, result: FetchResult) -> FetchResult:
        """Judge an image again that was stored under other lists, or with more metadata. `result` is its own.

        Raises FetchError where it is not to be kept: it is removed from the store then. Raises FileNotFoundError, or
        ValueError, where its bytes are not there any more.
        """
        assert result.sha256 is not None
        content = self._store.read(result.sha256)
        try:
            if result.received_sha256 is not None and self._abuse is not None:
                self._refuse(self._abuse.of_sha256(bytes.fromhex(result.received_sha256)), content, [result.url], "")
            self._refuse_listed(content, [result.url], "")
            self._refuse_look_alike(content, [result.url], "")
        except FetchError:
            self._store.discard(result.sha256)
            raise
        facts = ImageFacts(result.format or "", result.width or 0, result.height or 0, result.phash)
        if self._measures:
            facts = self._measured(content, facts)
        kept = self._stored(content, facts, content)
        return replace(kept, url=result.url, received_sha256=result.received_sha256 or kept.received_sha256)

    def _measured(self, content: bytes, facts: ImageFacts) -> ImageFacts:
        return replace(facts, quality=check_apart(content, self._config, self._measures).quality)

    def _refuse_forgotten(self, content: bytes) -> None:
        if self.forgotten is not None and self.forgotten.content(content):
            raise FetchError(FORGOTTEN)

    def _refuse_listed(self, content: bytes, urls: Sequence[str], came_from: str) -> None:
        if self._abuse is not None:
            self._refuse(self._abuse.exact(content), content, urls, came_from)

    def _refuse_look_alike(self, content: bytes, urls: Sequence[str], came_from: str) -> None:
        if self._abuse is None or not self._abuse.compares_pictures:
            return
        try:
            with decoding:
                hashes = pdq_of(content, decodable(), self._safety.known_abuse.turned)
        except Exception:  # untrusted bytes in a decoder that had read them before: what cannot be compared is not kept
            raise FetchError("corrupt_image") from None
        self._refuse(self._abuse.near(hashes), content, urls, came_from)

    def _refuse(self, match: Match | None, content: bytes, urls: Sequence[str], came_from: str) -> None:
        if match is None:
            return
        assert self._report is not None
        for url in urls:
            self._report(
                {
                    "url": url,
                    "came_from": came_from or url,
                    "kind": match.kind,
                    "hash": match.hash.hex(),
                    "listed": match.listed.hex(),
                    "distance": match.distance,
                    "quality": match.quality,
                    "list": match.list_name,
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "bytes": len(content),
                    "documents": list(self._documents(url)),
                }
            )
        raise FetchError(KNOWN_ABUSE)

    def _blurred(self, content: bytes, facts: ImageFacts) -> tuple[bytes, ImageFacts]:
        if self._faces is None:
            return content, facts
        try:
            with decoding:
                blurred = without_faces(content, facts.format, self._faces, decodable())
        except Drop:
            raise FetchError(FACES) from None
        except Exception:  # of a decoder, or of the function: a picture nobody has looked at is not kept
            raise FetchError("faces_failed") from None
        return (content, facts) if blurred is content else (blurred, check_apart(blurred, self._config))

    def _stored(self, content: bytes, facts: ImageFacts, received: bytes) -> FetchResult:
        try:
            content = strip_metadata(content, facts.format, self._safety.metadata)
        except Unreadable:
            raise FetchError("metadata_unreadable") from None
        if content != received:
            self._refuse_forgotten(content)
        sha256 = self._store.put(content)
        came = None if content == received else hashlib.sha256(received).hexdigest()
        size = (len(content), facts.format, facts.width, facts.height)
        return FetchResult("", "ok", None, False, sha256, *size, facts.phash, came, quality=facts.quality)
