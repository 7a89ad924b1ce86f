"""The process in which pictures of the web are decoded: python -m NAME PIXELS FRAMES SECONDS MEASURE...

It reads pictures from its standard input, each behind 8 bytes that say its length (big-endian), and answers each with
one line of JSON: {"facts": [format, width, height, phash, quality], "grown": bytes}, or {"reason": word of the ledger,
...}. `quality` has a number for each MEASURE that applies to the picture.
SECONDS of CPU time may go by for a picture. It ends with its input, or with `OUT_OF_MEMORY`.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from obelics_pipeline.engines.worker import return_freed_memory_at_once
from obelics_pipeline.models.pictures.decoding import decodable
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch.image_check import check_image
from obelics_pipeline.stages.fetch.quality.measure import measures_of
from obelics_pipeline.stages.fetch.quality.working import LONGEST

READY = b"ready\n"  # the first line of its output
LENGTH_BYTES = 8
OUT_OF_MEMORY = 77  # its exit code: the limit was met, and nothing more could be said

# Address space that a picture may take. Pillow 13 takes up to 6 bytes a pixel for what is common at the largest size (a
# progressive JPEG of three colours; WebP and AVIF have a share of `max_pixels`), and the file itself comes on top.
BYTES_PER_PIXEL, MORE_BYTES = 6, 64 * 2**20


@dataclass(frozen=True)
class Size:
    """`Caps` without the config, and what the config is made with: this process starts in half the time."""

    max_pixels: int
    max_frames: int


def main() -> None:
    """Serve until the input ends."""
    caps, seconds, measures = Size(int(sys.argv[1]), int(sys.argv[2])), int(sys.argv[3]), sys.argv[4:]
    answers = os.fdopen(os.dup(1), "wb")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _load(measures)
    at_start = _address_space()
    _limit(resource.RLIMIT_AS, at_start + BYTES_PER_PIXEL * caps.max_pixels + MORE_BYTES if at_start else None)
    try:
        answers.write(READY)
        answers.flush()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):  # what libraries print is no answer, and what they say of a broken file is no news
            os.dup2(nowhere, stream)
        _serve(caps, seconds, measures, answers, at_start)
    except BrokenPipeError:
        os._exit(0)  # the process that asks has ended, as on a full disk; Python would write to it once more
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # there may be too little left for anything else


def _serve(caps: Size, seconds: int, measures: Sequence[str], answers: BinaryIO, at_start: int) -> None:
    while (content := _picture(sys.stdin.buffer)) is not None:
        _limit(resource.RLIMIT_CPU, math.ceil(_cpu_seconds()) + seconds)
        answer = {**_answer(content, caps, measures), "grown": _address_space() - at_start}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _load(measures: Sequence[str]) -> None:
    """All that decoding imports or sets up, before the limit counts."""
    import imagehash
    import scipy.fftpack
    from PIL import AvifImagePlugin, Image

    return_freed_memory_at_once()
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # one for each CPU otherwise, each with a stack of its own
    decodable()
    assert imagehash.phash(Image.new("L", (1, 1))) is not None, scipy.fftpack
    measures_of(Image.new("RGB", (LONGEST, LONGEST)), measures)


def _picture(source: BinaryIO) -> bytes | None:
    length = source.read(LENGTH_BYTES)
    return source.read(int.from_bytes(length, "big")) if len(length) == LENGTH_BYTES else None


def _answer(content: bytes, caps: Size, measures: Sequence[str]) -> dict[str, object]:
    try:
        facts = check_image(content, caps, measures)
    except FetchError as error:
        return {"reason": error.reason}
    return {"facts": [facts.format, facts.width, facts.height, facts.phash, facts.quality]}


def _limit(kind: int, value: int | None) -> None:
    """Set a soft limit, within the hard one that this process was given."""
    if value is not None:
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _address_space() -> int:
    """Bytes; 0 where the system does not say (no Linux): there is no limit then."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


if __name__ == "__main__":
    main()
