"""The findings of a forget, kept until it is done, so that a resumed forget does not search again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from obelics_pipeline.core.storage import Location, names_in, read_bytes, remove, remove_tree, write_bytes
from obelics_pipeline.policy.tombstones.hash_set import ENDING, HashSet, read_hashes, write_hashes
from obelics_pipeline.policy.tombstones.keyed import Keyed
from obelics_pipeline.policy.tombstones.tombstones import PENDING, UNFINISHED

LONE, LONE_FILE = b"lone url", b"lone file"  # kinds: what only forgotten documents used
STAGED = "staged"  # below the folder of tombstones: files on their way to their places


@dataclass
class ToForget:
    """The work of a forget. It names no forgotten content; that is in the tombstones as hashes.

    `edited`: documents that stay and lose images, each with the number of images it keeps. `copies`: documents with the
    same images as a forgotten one, which must not replace it. `too_few`: documents with too few images left.
    """

    edited: dict[str, int] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    too_few: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


class Pending:
    """The state of a forget in the folder of tombstones."""

    def __init__(self, folder: Location, keyed: Keyed) -> None:
        self._folder, self._keyed, self._place = folder, keyed, folder / UNFINISHED
        self._lone = HashSet(b"")

    def begin(self, hashes: bool, validated: bool) -> None:
        """Note that a forget was begun: whether it asks for hashes of files or texts, and whether the run was valid."""
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
        write_bytes(self._place, _json(self._read() | {"written": [*self.written, *names]}))

    def found(self) -> ToForget | None:
        """The findings before a kill; None if the search was not finished."""
        value = self._read().get("found")
        if value is None:
            return None
        self._load()
        return ToForget(**value)

    def note(self, found: ToForget, urls: Iterable[str], files: Iterable[str]) -> None:
        """Keep what was found: image URLs and sha256 of files that only forgotten documents used."""
        hashes = [self._keyed.of(LONE, url) for url in urls] + [self._keyed.of(LONE_FILE, name) for name in files]
        remove(self._folder / name for name in names_in(self._folder, PENDING) if name.endswith(ENDING))
        write_hashes(self._folder, hashes, f"{PENDING}-")
        write_bytes(self._place, _json(self._read() | {"found": asdict(found)}))
        self._load()

    def lone_url(self, url: str) -> bool:
        """Whether only forgotten documents used an image URL."""
        return self._keyed.of(LONE, url) in self._lone

    def lone_file(self, sha256: str) -> bool:
        """Whether only forgotten documents used a file of the image store."""
        return self._keyed.of(LONE_FILE, sha256) in self._lone

    def end(self) -> None:
        """Everything is done: nothing of it stays."""
        remove_tree(self._folder / STAGED)
        others = [name for name in names_in(self._folder, PENDING) if name != UNFINISHED]
        remove(self._folder / name for name in others)
        remove([self._place])

    def _load(self) -> None:
        names = [name for name in names_in(self._folder, PENDING) if name.endswith(ENDING)]
        self._lone = HashSet(b"".join(read_hashes(self._folder / name) for name in names))

    def _read(self) -> dict[str, Any]:
        try:
            value = json.loads(read_bytes(self._place))
        except (FileNotFoundError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value) + "\n").encode()
