"""What matching against hash lists costs: preparing a list, a look-up, an image.

    python -m benchmarks.hash_lists --hashes 10000000

Prints seconds of a core and bytes of preparing, and microseconds of a look-up: of hashes that are far from all, and of
such that are as far from one as may be.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from pathlib import Path

import numpy as np

from obelics_pipeline.config.image_safety import HashListConfig, KnownAbuseConfig
from obelics_pipeline.fetch.image_check import decodable
from obelics_pipeline.image_safety.known_abuse import known_abuse, prepare
from obelics_pipeline.image_safety.pdq import Pdq, pdq_of

LOOK_UPS = 200


def main() -> None:
    """Measure, and print as it goes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hashes", type=int, default=10_000_000)
    n = parser.parse_args().hashes
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listed = _write(folder / "pdq.txt", n, draw)
        config = KnownAbuseConfig(
            lists=(HashListConfig(path=str(folder / "pdq.txt"), kind="pdq"),), cache=str(folder / "cache")
        )
        began = time.process_time()
        prepared = prepare(config)
        assert prepared is not None
        size = sum(path.stat().st_size for path in (folder / "cache").rglob("*.npy"))
        print(f"{n:,} PDQ hashes: prepared in {time.process_time() - began:.1f} s, {size / 2**20:,.0f} MiB on disk")
        began = time.perf_counter()
        abuse = known_abuse(config, prepared.identity)
        print(f"opened by a process in {time.perf_counter() - began:.2f} s")
        far = [value.tobytes() for value in draw.integers(0, 256, (LOOK_UPS, 32), dtype=np.uint8)]
        near = [_changed(listed[i], 31, draw) for i in range(LOOK_UPS)]
        for what, values in (("far from all", far), ("31 bits from one", near), ("far from all, again", far)):
            began = time.process_time()
            hits = sum(abuse.near([Pdq(value, 100)]) is not None for value in values)
            cost = (time.process_time() - began) / len(values)
            print(f"a look-up, {what}: {cost * 1e6:,.0f} us, {hits} of {len(values)} match")
        _images(draw)


def _write(path: Path, n: int, draw: np.random.Generator) -> list[bytes]:
    """A list of random hashes; the first of them."""
    first: list[bytes] = []
    with path.open("w") as file:
        for start in range(0, n, 100_000):
            values = draw.integers(0, 256, (min(100_000, n - start), 32), dtype=np.uint8)
            first = first or [value.tobytes() for value in values[:LOOK_UPS]]
            text = values.tobytes().hex()
            file.writelines(text[i : i + 64] + "\n" for i in range(0, len(text), 64))
    return first


def _changed(value: bytes, bits: int, draw: np.random.Generator) -> bytes:
    flipped = np.unpackbits(np.frombuffer(value, np.uint8))
    flipped[draw.choice(256, bits, replace=False)] ^= 1
    return np.packbits(flipped).tobytes()


def _images(draw: np.random.Generator) -> None:
    from PIL import Image

    for side in (300, 1000, 3000):
        rough = draw.integers(0, 256, (12, 12, 3), dtype=np.uint8)
        out = io.BytesIO()
        Image.fromarray(rough).resize((side, side * 3 // 4)).save(out, "JPEG", quality=90)
        began = time.process_time()
        for _ in range(10):
            pdq_of(out.getvalue(), decodable())
        print(f"the hash of a JPEG of {side} by {side * 3 // 4}: {(time.process_time() - began) / 10 * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
