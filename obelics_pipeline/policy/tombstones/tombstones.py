"""The tombstones of folders, as stages ask them: a folder `forgotten` of a run holds the key and the hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.config.run import RunConfig
from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.image_set import image_set_key
from obelics_pipeline.core.storage import Location, location, names_in, size_of
from obelics_pipeline.net.page_url import normalise
from obelics_pipeline.net.registered_domain import with_parents
from obelics_pipeline.policy.tombstones import hash_set, texts
from obelics_pipeline.policy.tombstones.hash_set import HashSet, read_hashes
from obelics_pipeline.policy.tombstones.keyed import HOST, ID, IMAGE_SET, NAME, SHA256, URL, Keyed, read_key
from obelics_pipeline.policy.tombstones.lists import host_in
from obelics_pipeline.policy.tombstones.texts import TextSet, read_texts

FOLDER, KEY = "forgotten", "key"
UNFINISHED = "pending.json"  # there from the first change to the last
PENDING = "pending"  # begins the names of files that only a forget at work reads
HOSTS = 65_536  # whose answers are remembered

Options = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Ring:
    """The tombstones of one key."""

    keyed: Keyed
    hashes: HashSet
    texts: Sequence[TextSet]

    def has(self, kind: bytes, value: str | bytes) -> bool:
        """Whether a value of a kind was removed."""
        return self.keyed.of(kind, value) in self.hashes


class Tombstones:
    """The tombstones of several folders. When pickled it holds only their paths; a worker reads each once."""

    def __init__(self, folders: Sequence[Location], digest: str, compare: DedupConfig) -> None:
        """`digest` is what the folders held when they were looked at; see `tombstones_in`."""
        self._folders, self._compare, self.digest = tuple(folders), compare, digest
        self._texts = compare.enabled and compare.text.enabled
        self._sets = compare.enabled and compare.image_set.enabled

    def url(self, url: str) -> bool:
        """See `Forgotten`."""
        normal = normalise(url)
        host = host_in(normal)
        if host is not None and _host(self._folders, self.digest, host):
            return True
        return any(ring.has(URL, normal) for ring in self._rings())

    def host(self, host: str) -> bool:
        """Whether a host, or a domain that it is below, was removed."""
        found = host_in(normalise(f"http://{host}/"))
        return found is not None and _host(self._folders, self.digest, found)

    def document(self, doc_id: str) -> bool:
        """See `Forgotten`."""
        return any(ring.has(ID, doc_id) for ring in self._rings())

    def sha256(self, sha256: str) -> bool:
        """See `Forgotten`."""
        return any(ring.has(SHA256, sha256) for ring in self._rings())

    def content(self, data: bytes) -> bool:
        """See `Forgotten`."""
        return self.sha256(hashlib.sha256(data).hexdigest())

    def text(self, text: str) -> bool:
        """See `Forgotten`."""
        if self.sha256(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()):
            return True
        return self._texts and any(of_set.has(text) for ring in self._rings() for of_set in ring.texts)

    def image_set(self, images: Sequence[ImageNode]) -> bool:
        """See `Forgotten`."""
        if not self._sets:
            return False
        key = image_set_key(({"src": i.src, "sha256": i.sha256} for i in images), self._compare.image_set)
        return key is not None and self.image_set_key(key)

    def image_set_key(self, key: bytes) -> bool:
        """As `image_set`, by the key that dedup gives a set."""
        return any(ring.has(IMAGE_SET, key) for ring in self._rings())

    def name(self, doc_id: str) -> str:
        """See `Forgotten`."""
        return self._rings()[0].keyed.of(NAME, doc_id).hex()

    def _rings(self) -> Sequence[Ring]:
        return _read(self._folders, self.digest)


def tombstones_in(folders: Sequence[Location], compare: DedupConfig) -> Tombstones | None:
    """The tombstones of some folders `forgotten`; None where these hold none. `compare` says what a duplicate is."""
    there = [(folder, names) for folder in folders if (names := stored(folder))]
    if not there:
        return None
    said = [f"{read_key(folder / KEY).fingerprint} {' '.join(names)}" for folder, names in there]
    digest = hashlib.sha256("\n".join(sorted(said)).encode()).hexdigest()[:16]
    return Tombstones([folder for folder, _ in there], digest, compare)


def stored(folder: Location) -> list[str]:
    """The names of the files of tombstones of a folder, which say what is in them."""
    endings = (hash_set.ENDING, texts.ENDING)
    return [n for n in names_in(folder) if n.endswith(endings) and not n.startswith((PENDING, "."))]


def listed(paths: Sequence[str], options: Options, said: str) -> list[Location]:
    """The folders `forgotten` of runs, or such folders themselves. Raises UserError for a path that is neither."""
    found = []
    for path in paths:
        given = location(path, options)
        folder = next((f for f in (given / FOLDER, given) if stored(f)), None)
        if folder is None:
            raise UserError(f"{said} {path}: no tombstones are there; give the folder of a run that obelics forget met")
        found.append(folder)
    return found


def configured(config: RunConfig) -> Tombstones | None:
    """The tombstones that a config names."""
    folders = listed(config.forgotten, config.reading.storage_options, "forgotten:")
    return tombstones_in(folders, config.dedup)


def refuse_unfinished(*runs: Location) -> None:
    """Raises UserError where `obelics forget` was begun in the folder of a run and not finished."""
    for run in runs:
        if size_of(run / FOLDER / UNFINISHED) is not None:
            raise UserError(f"{run}: something is being removed there, or was half: obelics forget {run} finishes it")


@lru_cache(maxsize=4)
def _read(folders: tuple[Location, ...], _digest: str) -> Sequence[Ring]:
    return tuple(_rings(folders))


@lru_cache(maxsize=HOSTS)
def _host(folders: tuple[Location, ...], digest: str, host: str) -> bool:
    """Whether a host, or what it is below, was removed."""
    return any(ring.has(HOST, name) for ring in _read(folders, digest) for name in with_parents(host))


def _rings(folders: Sequence[Location]) -> Iterator[Ring]:
    """A ring for each key, in the order of the folders: corpora that share one cost one look."""
    keys = [read_key(folder / KEY) for folder in folders]
    for fingerprint in dict.fromkeys(key.fingerprint for key in keys):
        mine = [(f, key) for f, key in zip(folders, keys, strict=True) if key.fingerprint == fingerprint]
        hashes, of_texts = bytearray(), list[TextSet]()
        for folder, keyed in mine:
            for name in stored(folder):
                try:
                    if name.endswith(hash_set.ENDING):
                        hashes += read_hashes(folder / name)
                    else:
                        of_texts.append(read_texts(folder / name, keyed))
                except (OSError, ValueError, KeyError, pa.ArrowException) as error:
                    why = str(error).splitlines()[0][:200]
                    raise UserError(f"{folder / name}: tombstones cannot be read ({why}); give the file back") from None
        yield Ring(mine[0][1], HashSet(bytes(hashes)), of_texts)
