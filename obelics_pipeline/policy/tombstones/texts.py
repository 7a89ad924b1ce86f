"""Tombstones of texts: what tells a near duplicate of a text that was removed, and nothing of the text itself.

Two texts are compared as dedup compares them: they must share the key of a band of their MinHash signatures, and their
sketches must agree. Of a text that was removed the band keys are kept as keyed hashes, and the sketch under a mask
that only the key gives: without it neither says anything of another text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.config.dedup import TextConfig
from obelics_pipeline.core.minhash.signature import Signatures, Signer
from obelics_pipeline.core.storage import Location, draft, open_parquet, size_of
from obelics_pipeline.policy.tombstones.keyed import BAND, MASK, Keyed

ENDING = ".texts"
SETTINGS = b"obelics_texts"  # key of the schema's metadata
_COMPARED = ("threshold", "shingle_words", "permutations", "bands", "rows", "min_characters")

Words = npt.NDArray[np.uint64]
Signed = tuple[bytes, bytes]  # the bands of a text and its sketch, as they are stored


def settings_of(config: TextConfig) -> dict[str, Any]:
    """The settings that a signature and its comparison depend on."""
    values = config.model_dump(mode="json")
    return {name: values[name] for name in _COMPARED}


class TextSet:
    """Texts that were removed, of one key and of one way to compare."""

    def __init__(self, keyed: Keyed, settings: dict[str, Any], bands: Words, sketches: npt.NDArray[np.uint8]) -> None:
        """`bands` are (texts, bands), `sketches` (texts, bytes), both as they are stored."""
        self._keyed, self._settings, self._sketches = keyed, settings, sketches
        flat = bands.reshape(-1)
        order = np.argsort(flat, kind="stable")
        self._bands = flat[order]
        self._texts = (order // max(bands.shape[1], 1)).astype(np.int64)
        self._most = int(8 * sketches.shape[1] * (1 - settings["threshold"]) / 2 + 1e-9)  # as leaders.Sketches has it
        self._signer = Signer(*(settings[name] for name in ("shingle_words", "permutations", "bands", "rows")))
        self._mask = _mask(keyed, sketches.shape[1])

    def __len__(self) -> int:
        return len(self._sketches)

    def has(self, text: str) -> bool:
        """Whether a text is nearly the same as one of them."""
        if len(text) < self._settings["min_characters"]:
            return False
        signed = self._signer.sign([text])
        keys = _band_hashes(self._keyed, signed)[0]
        low, high = (np.searchsorted(self._bands, keys, side) for side in ("left", "right"))
        found = [self._texts[a:b] for a, b in zip(low, high, strict=True) if a < b]
        if not found:
            return False
        sketches = self._sketches[np.unique(np.concatenate(found))]
        differ = np.bitwise_count(sketches ^ (signed.sketches[0] ^ self._mask)).sum(axis=1, dtype=np.int64)
        return bool((differ <= self._most).any())


def signed_texts(keyed: Keyed, config: TextConfig, texts: Sequence[str]) -> list[Signed | None]:
    """What tells the near duplicates of texts, in their order; None for those that are too short to be compared."""
    long = [i for i, text in enumerate(texts) if len(text) >= config.min_characters]
    found: list[Signed | None] = [None] * len(texts)
    if long:
        signer = Signer(config.shingle_words, config.permutations, config.bands, config.rows)
        signed = signer.sign([texts[i] for i in long])
        masked = signed.sketches ^ _mask(keyed, signed.sketches.shape[1])
        for i, bands, sketch in zip(long, _band_hashes(keyed, signed), masked, strict=True):
            found[i] = bands.tobytes(), sketch.tobytes()
    return found


def write_texts(folder: Location, config: TextConfig, texts: Iterable[Signed | None]) -> str | None:
    """Put texts into a folder as `signed_texts` gives them, each once; the name of the file.

    None where no text is long enough to be compared.
    """
    signed = [text for text in texts if text is not None]
    if not signed:
        return None
    settings = settings_of(config)
    # by themselves: the order of the texts would tell of them
    ordered = sorted(signed, key=lambda of_text: (np.frombuffer(of_text[0], np.uint64).tolist(), of_text[1]))
    rows = {"bands": [bands for bands, _ in ordered], "sketch": [sketch for _, sketch in ordered]}
    said = json.dumps(settings, sort_keys=True).encode()
    schema = pa.schema([("bands", pa.binary()), ("sketch", pa.binary())], metadata={SETTINGS: said})
    table = pa.table(rows, schema=schema)
    content = hashlib.sha256(said + b"".join(rows["bands"]) + b"".join(rows["sketch"])).hexdigest()[:16]
    place = folder / f"{content}{ENDING}"
    if size_of(place) is None:
        with draft(place) as path:
            pq.write_table(table, path, compression="none")
    return str(place.name)


def read_texts(place: Location, keyed: Keyed) -> TextSet:
    """Texts from their file. Raises OSError, pa.ArrowException or ValueError."""
    with open_parquet(place) as source:
        table = source.read()
    settings = json.loads((table.schema.metadata or {})[SETTINGS])
    n = table.num_rows
    bands = np.frombuffer(b"".join(table["bands"].to_pylist()), np.uint64).reshape(n, -1)
    sketches = np.frombuffer(b"".join(table["sketch"].to_pylist()), np.uint8).reshape(n, -1)
    return TextSet(keyed, settings, bands, sketches)


def _band_hashes(keyed: Keyed, signed: Signatures) -> Words:
    """Eight bytes for each band of each text."""
    n, bands = signed.band_keys.shape
    data = b"".join(
        keyed.of(BAND, band.to_bytes(2, "big") + signed.band_keys[i, band].tobytes())[:8]
        for i in range(n)
        for band in range(bands)
    )
    return np.frombuffer(data, np.uint64).reshape(n, bands)


def _mask(keyed: Keyed, size: int) -> npt.NDArray[np.uint8]:
    data = b"".join(keyed.of(MASK, part.to_bytes(4, "big")) for part in range(-(-size // 16)))
    return np.frombuffer(data[:size], np.uint8)
