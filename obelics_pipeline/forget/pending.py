"""The findings of a forget, kept until it is done, so that a resumed forget does not search again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.storage import Location, names_in, read_bytes, remove, remove_tree, write_bytes
from obelics_pipeline.forget.lone import LONE, LONE_FILE
from obelics_pipeline.forget.place import WORK
from obelics_pipeline.forget.values import IDS, Values, among, as_bytes, read_values, write_values
from obelics_pipeline.policy.tombstones.hash_set import ENDING, HashSet, read_hashes, write_hashes
from obelics_pipeline.policy.tombstones.keyed import Keyed
from obelics_pipeline.policy.tombstones.tombstones import PENDING, UNFINISHED

STAGED = "staged"  # below the folder of tombstones: files on their way to their places
EDITED = np.dtype([("doc", IDS), ("left", "<i4"), ("few", "?")])  # of a document that stays and loses images


@dataclass
class ToForget:
    """The work of a forget. It names no forgotten content; that is in the tombstones as hashes.

    `edited`: documents that stay and lose images, each once: how many images it keeps, and whether these are too few.
    `copies`: documents with the same images as a forgotten one, which must not replace it.
    """

    edited: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, EDITED))
    copies: Values = field(default_factory=lambda: np.empty(0, IDS))
    counts: dict[str, int] = field(default_factory=dict)


class Pending:
    """The state of a forget in the folder of tombstones. Units ask it what was found, once that is noted."""

    def __init__(self, folder: Location, keyed: Keyed) -> None:
        self._folder, self._keyed, self._place = folder, keyed, folder / UNFINISHED
        self._lone = HashSet(b"")
        self._docs, self._left = np.empty(0, IDS), np.empty(0, np.int32)
        self._few, self._copies = np.empty(0, IDS), np.empty(0, IDS)

    def begin(self, hashes: bool, validated: bool) -> None:
        """Note that a forget was begun: whether it asks for hashes of files or texts, and whether the run was valid.

        What units of another one found goes first.
        """
        remove_tree(self._folder / WORK)
        remove_tree(self._folder / STAGED)
        write_bytes(self._place, _json({"hashes": hashes, "validated": validated}))

    @property
    def hashes(self) -> bool:
        """Whether hashes were asked for."""
        return bool(self._read().get("hashes"))

    @property
    def validated(self) -> bool:
        """Whether the shards had been read back before."""
        return bool(self._read().get("validated"))

    @property
    def written(self) -> list[str]:
        """The tars that this forget wrote."""
        return list(self._read().get("written", ()))

    def note_written(self, names: Iterable[str]) -> None:
        """Note tars before they get their final names, so that a resumed forget reads them back."""
        written = dict.fromkeys([*self.written, *names])
        write_bytes(self._place, _json(self._read() | {"written": list(written)}))

    @property
    def counts(self) -> dict[str, int] | None:
        """The counts of what was found before a kill; None if the search was not finished."""
        found = self._read().get("found")
        if isinstance(found, dict) and "edited" in found:  # an earlier version noted all of it here
            rows = [(doc.encode(), n, doc in found["too_few"]) for doc, n in sorted(found["edited"].items())]
            copies = np.array([doc.encode() for doc in found["copies"]], IDS)
            self._note_found(ToForget(np.array(rows, EDITED), copies, found["counts"]))
            return dict(found["counts"])
        return dict(found["counts"]) if found is not None else None

    def note(self, found: ToForget, urls: Values, files: Values) -> None:
        """Keep what was found: `LONE` of image URLs, and `LONE_FILE` of files, that only forgotten documents used."""
        remove(self._folder / name for name in self._names() if name.endswith(ENDING))
        write_hashes(self._folder, [as_bytes(urls), as_bytes(files)], f"{PENDING}-")
        self._note_found(found)

    def _note_found(self, found: ToForget) -> None:
        edited = np.sort(found.edited, order="doc")
        sets = {"edited": edited["doc"], "few": edited["doc"][edited["few"]], "copies": found.copies}
        names = {role: write_values(self._folder, f"{PENDING}-{role}", ids).name for role, ids in sets.items()}
        left = edited["left"].astype("<i4").tobytes()
        write_bytes(self._folder / _beside(names["edited"]), left)
        write_bytes(self._place, _json(self._read() | {"found": {"counts": found.counts, "sets": names}}))

    def load(self) -> Pending:
        """With what was noted as found, for who asks."""
        names = self._read()["found"]["sets"]
        sets = [read_values(self._folder / names[role]) for role in ("edited", "few", "copies")]
        self._docs, self._few, self._copies = sets
        self._left = np.frombuffer(read_bytes(self._folder / _beside(names["edited"])), "<i4")
        hashes = [name for name in self._names() if name.endswith(ENDING)]
        self._lone = HashSet(b"".join(read_hashes(self._folder / name) for name in hashes))
        return self

    def state(self) -> tuple[str, ...]:
        """The names of what `load` reads: another for each that was noted."""
        return tuple(self._names())

    def left(self, doc_id: str) -> int | None:
        """How many images a document keeps; None for one that loses none."""
        if not self._docs.size:
            return None
        return self.lefts([doc_id])[0]

    def lefts(self, doc_ids: Sequence[str]) -> list[int | None]:
        """The same for many."""
        if not self._docs.size or not doc_ids:
            return [None] * len(doc_ids)
        ids = np.array([doc_id.encode() for doc_id in doc_ids])
        hit = among(ids, self._docs)
        places = np.searchsorted(self._docs, ids[hit].astype(self._docs.dtype))
        found: list[int | None] = [None] * len(doc_ids)
        for i, n in zip(np.flatnonzero(hit).tolist(), self._left[places].tolist(), strict=True):
            found[i] = n
        return found

    def out(self, doc_id: str) -> bool:
        """Whether a document is left out with a forgotten one: it has its images, or too few images are left to it."""
        return _is_in(doc_id, self._copies) or self.too_few(doc_id)

    def too_few(self, doc_id: str) -> bool:
        """Whether a document is left out because too few images are left to it."""
        return _is_in(doc_id, self._few)

    def lone_url(self, url: str) -> bool:
        """Whether only forgotten documents used an image URL."""
        return self._keyed.of(LONE, url) in self._lone

    def lone_file(self, sha256: str) -> bool:
        """Whether only forgotten documents used a stored image."""
        return self._keyed.of(LONE_FILE, sha256) in self._lone

    def end(self) -> None:
        """Everything is done: nothing of it stays."""
        remove_tree(self._folder / STAGED)
        remove_tree(self._folder / WORK)
        remove(self._folder / name for name in self._names())
        remove([self._place])

    def _names(self) -> list[str]:
        return [name for name in names_in(self._folder, PENDING) if name != UNFINISHED]

    def _read(self) -> dict[str, Any]:
        try:
            value = json.loads(read_bytes(self._place))
        except (FileNotFoundError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}


def _is_in(doc_id: str, ids: Values) -> bool:
    return bool(ids.size) and bool(among(np.array([doc_id.encode()]), ids)[0])


def _beside(name: str) -> str:
    """The file with the images that are left to the documents of a set, in its order."""
    return f"{name}.left"


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value) + "\n").encode()
