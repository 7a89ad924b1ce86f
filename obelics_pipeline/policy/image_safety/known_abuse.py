"""Whether an image is on a hash list. Lists are made ready once for a machine, outside of any run's folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from obelics_pipeline.core.config.image_safety import HashKind, HashListConfig, ImageSafetyConfig, KnownAbuseConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.unit import digest
from obelics_pipeline.policy.image_safety.hash_list import BYTES, HashListCounts, read_hashes
from obelics_pipeline.policy.image_safety.pdq import Pdq, require_pdq
from obelics_pipeline.policy.image_safety.search import Exact, Hit, Near, made, opened, save

VERSION = 1  # raise it when the files of a search change
CACHE = Path("obelics") / "hash-lists"
EXACT: tuple[HashKind, ...] = ("sha256", "md5")


@dataclass(frozen=True)
class Match:
    """An image is on a list: which hash of it, which of the list, how many bits differ, and the list's file name."""

    kind: HashKind
    hash: bytes
    listed: bytes
    distance: int
    list_name: str
    quality: int | None = None


class KnownAbuse:
    """Hash lists that are ready to be searched. Safe to use from several threads."""

    def __init__(self, config: KnownAbuseConfig, folder: Path) -> None:
        self._config = config
        self._names = [Path(of.path).name for of in config.lists]
        files = {kind: opened(folder, kind) for kind in (*EXACT, "pdq")}
        self._exact = {kind: Exact(files[kind]) for kind in EXACT if files[kind]}
        self._near = Near(files["pdq"]) if files["pdq"] else None

    @property
    def compares_pictures(self) -> bool:
        """Whether a list has hashes of what images look like."""
        return self._near is not None

    def exact(self, content: bytes) -> Match | None:
        """Whether these very bytes are listed."""
        for kind, search in self._exact.items():
            value = hashlib.new(kind, content, usedforsecurity=False).digest()
            if (hit := search.find(value)) is not None:
                return self._match(kind, value, hit)
        return None

    def of_sha256(self, value: bytes) -> Match | None:
        """Whether bytes of this sha256 are listed: for those that are not at hand any more."""
        search = self._exact.get("sha256")
        hit = None if search is None else search.find(value)
        return None if hit is None else self._match("sha256", value, hit)

    def near(self, hashes: Sequence[Pdq]) -> Match | None:
        """Whether one of an image's PDQ hashes is near enough to a listed one; of several the nearest."""
        best: Match | None = None
        for of in hashes:
            if self._near is None or of.quality < self._config.min_quality:
                continue
            hit = self._near.find(of.value, self._config.distance)
            if hit is not None and (best is None or hit.distance < best.distance):
                best = self._match("pdq", of.value, hit, of.quality)
        return best

    def _match(self, kind: HashKind, value: bytes, hit: Hit, quality: int | None = None) -> Match:
        return Match(kind, value, hit.value, hit.distance, self._names[hit.list_number], quality)


@dataclass(frozen=True)
class Prepared:
    """Lists that were made ready: their digest, and what they held."""

    identity: str
    counts: Sequence[HashListCounts]


def located(config: ImageSafetyConfig) -> ImageSafetyConfig:
    """The same with the full paths of its files: a worker may be in another folder, or another's home."""
    lists = tuple(of.model_copy(update={"path": _full(of.path)}) for of in config.known_abuse.lists)
    cache, file = config.known_abuse.cache, config.report.file
    abuse = config.known_abuse.model_copy(update={"lists": lists, "cache": cache and _full(cache)})
    report = config.report.model_copy(update={"file": file and _full(file)})
    return config.model_copy(update={"known_abuse": abuse, "report": report})


def _full(path: str) -> str:
    return str(Path(path).expanduser().absolute())


def prepare(config: KnownAbuseConfig) -> Prepared | None:
    """Read the lists and prepare them on this machine; None without lists.

    Raises UserError for a list that cannot be read, has another sha256 than the config names, or holds no hash.
    """
    if not config.lists:
        return None
    hashes = [_sha256(of) for of in config.lists]
    identity = _identity(config, hashes)
    counts = _made(config, hashes)
    return Prepared(identity, counts)


def known_abuse(config: KnownAbuseConfig, identity: str) -> KnownAbuse:
    """The lists of a config, made ready here if they are not yet. Raises UserError where they are others than told."""
    return _known_abuse(config.model_dump_json(), identity)


@lru_cache(maxsize=2)
def _known_abuse(config_json: str, identity: str) -> KnownAbuse:
    config = KnownAbuseConfig.model_validate_json(config_json)
    hashes = [_sha256(of) for of in config.lists]
    if _identity(config, hashes) != identity:
        raise UserError(
            "image_safety.known_abuse: the hash lists of this machine are not those the run began with; run again"
        )
    _made(config, hashes)
    return KnownAbuse(config, _folder(config, hashes))


def _identity(config: KnownAbuseConfig, hashes: Sequence[str]) -> str:
    """The identity of a match: the contents of the lists and the settings, not the paths of the lists."""
    kinds = [[sha256, of.kind] for sha256, of in zip(hashes, config.lists, strict=True)]
    return digest(VERSION, sorted(kinds, key=str), config.model_dump(mode="json", exclude={"lists", "cache"}))


def cache_folder(config: KnownAbuseConfig) -> Path:
    """Where lists are kept that were made ready."""
    if config.cache is not None:
        return Path(config.cache).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / CACHE


def _folder(config: KnownAbuseConfig, hashes: Sequence[str]) -> Path:
    return cache_folder(config) / digest(VERSION, [[h, of.kind] for h, of in zip(hashes, config.lists, strict=True)])


def _sha256(of: HashListConfig) -> str:
    try:
        with Path(of.path).expanduser().open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"image_safety.known_abuse: {of.path} cannot be read: {error.strerror}") from None
    if of.sha256 is not None and found != of.sha256:
        raise UserError(
            f"image_safety.known_abuse: {of.path} is damaged or another file: its sha256 is {found}, {of.sha256} is "
            "expected; fetch it again"
        )
    return found


def _made(config: KnownAbuseConfig, hashes: Sequence[str]) -> list[HashListCounts]:
    """Make the files of a search, unless they are there; empty counts where they were."""
    folder = _folder(config, hashes)
    if folder.is_dir():
        return []
    values = {kind: bytearray() for kind in BYTES}
    lists: dict[HashKind, list[tuple[int, int]]] = {kind: [] for kind in BYTES}  # (list, hashes of it), in order
    found: list[HashListCounts] = []
    for number, of in enumerate(config.lists):
        counts = HashListCounts()
        before = {kind: len(held) for kind, held in values.items()}
        for kind, value in read_hashes(of, counts):
            values[kind] += value
        for kind, held in values.items():
            lists[kind].append((number, (len(held) - before[kind]) // BYTES[kind]))
        _refuse_useless(of, counts)
        found.append(counts)
    if values["pdq"]:
        require_pdq()
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))  # mode 0700
    try:
        for kind, held in values.items():
            numbers = np.repeat(*np.array(lists[kind], np.int64).T).astype(np.uint16)
            if held:
                files = made(kind, bytes(held), BYTES[kind], numbers)
                save(draft, kind, files)
        try:
            draft.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was first
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return found


def _refuse_useless(of: HashListConfig, counts: HashListCounts) -> None:
    if counts.ambiguous:
        raise UserError(
            f"image_safety.known_abuse: {of.path}: {counts.ambiguous:,} hashes of 64 digits may be sha256 or PDQ; set "
            "kind of the list to sha256 or pdq"
        )
    if not counts.hashes:
        raise UserError(
            f"image_safety.known_abuse: {of.path}: none of its {counts.bad:,} lines has a hash (sha256, md5 or PDQ in "
            "hexadecimal)"
        )
