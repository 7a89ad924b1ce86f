"""What is to go, as the edits ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from obelics_pipeline.core.document import CARRIED
from obelics_pipeline.forget.loose import STRUCK
from obelics_pipeline.forget.pending import Pending
from obelics_pipeline.forget.place import Place
from obelics_pipeline.policy.tombstones.tombstones import Tombstones

REMEMBERED = 1 << 16  # answers on addresses


class Gone:
    """Tombstones, and what a forget found beside them. `document` and `url` answer as those of tombstones do."""

    def __init__(self, known: Tombstones, pending: Pending) -> None:
        """`pending` was loaded."""
        self._known, self._pending = known, pending
        self.document = lru_cache(REMEMBERED)(known.document)
        self.url = lru_cache(REMEMBERED)(known.url)
        self.name = known.name

    def out(self, doc_id: str) -> bool:
        """Whether a document is forgotten, or left out because another one is."""
        return self._pending.out(doc_id) or self.document(doc_id)

    def too_few(self, doc_id: str) -> bool:
        """Whether a document is left out because too few images are left to it."""
        return self._pending.too_few(doc_id)

    def lefts(self, doc_ids: Sequence[str]) -> list[int | None]:
        """How many images documents keep; None for one that loses none."""
        return self._pending.lefts(doc_ids)

    def address(self, url: str) -> bool:
        """Whether an address is forgotten, or was that of forgotten documents, or of images of theirs, only."""
        return self._pending.lone_url(url) or self.url(url)

    def carried(self, sha256: str) -> bool:
        """The same of an image that came with a row, by the hash that stands for its address."""
        return self.address(CARRIED + sha256)

    def sha256(self, sha256: str) -> bool:
        """Whether a file is forgotten, or was of forgotten documents only."""
        return self._pending.lone_file(sha256) or self._known.sha256(sha256)

    def image(self, url: str, data: bytes | None) -> bool:
        """Whether an image of a document that stays is forgotten."""
        return self.url(url) or (data is not None and self._known.content(data))

    def strike(self, token: str) -> str | None:
        """See `loose.Strike`."""
        if ":" in token:
            return STRUCK if self.address(token) else None
        value = token.lower()
        if "." in value:
            return STRUCK if self._known.host(value) else None
        if len(value) == 32:
            return self.name(value) if self.document(value) else None
        return "0" * 64 if self.sha256(value) else None


def gone_at(place: Place) -> Gone:
    """What is to go, for a unit; what the last unit of this process asked for is kept as long as it is the same."""
    pending, known = Pending(place.target, place.keyed()), place.known()
    state = (str(place.target), str(place.run.path), known.digest, *pending.state())
    if _held.get("state") != state:
        _held.clear()
        _held.update(state=state, gone=Gone(known, pending.load()))
    found: Gone = _held["gone"]
    return found


_held: dict[str, Any] = {}
