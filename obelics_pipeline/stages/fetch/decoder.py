"""The decoder: pictures of the web are opened in a process of its own, which may take so much memory and no more.

A file of few bytes can ask a decoder for gigabytes or hours where its header says that it is small. The process that
asks stays as it is, whatever a picture does to its decoder.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.engines.pool import import_environment
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch import decoder_process
from obelics_pipeline.stages.fetch.decoder_process import LENGTH_BYTES, OUT_OF_MEMORY, READY
from obelics_pipeline.stages.fetch.image_check import ImageFacts, decoding, sniff

RECYCLE_BYTES = 32 * 2**20  # a process that has grown by so much is replaced: the next picture has the whole limit
CPU_SECONDS = 20  # for one picture; 50 megapixels took up to 2 in all formats (Xeon, 2.1 GHz)
TRIES = 2  # for one picture: a process may be killed by others, too
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def check_apart(content: bytes, config: FetchingConfig, measures: Sequence[str] = ()) -> ImageFacts:
    """What `check_image` says of the bytes of an image, decoded by this process's decoder, one at a time.

    Raises FetchError, as `check_image` does: too_many_pixels also for what would need more memory than the limit of
    `decoder_process`, corrupt_image for what would need more CPU time, or ends the process. Raises OSError where no
    decoder can be started.
    """
    sniff(content)  # most of what is no image needs no decoder
    with decoding:
        return _decoder(os.getpid(), config.max_pixels, config.max_frames, tuple(measures)).check(content)


@cache
def _decoder(_process: int, max_pixels: int, max_frames: int, measures: tuple[str, ...]) -> Decoder:
    """One for a process, as long as it lives; one that was forked has its own."""
    return Decoder(max_pixels, max_frames, measures=measures)


class Decoder:
    """A process that decodes, started when it is first asked. For one thread at a time.

    It ends with the process that asks, however that ends.
    """

    def __init__(
        self, max_pixels: int, max_frames: int, cpu_seconds: int = CPU_SECONDS, measures: Sequence[str] = ()
    ) -> None:
        self._asked = str(max_pixels), str(max_frames), str(cpu_seconds), *measures
        self._process: subprocess.Popen[bytes] | None = None

    def check(self, content: bytes) -> ImageFacts:
        """See `check_apart`."""
        for _ in range(TRIES):
            answer = self._ask(content)
            if answer is not None:
                if answer["grown"] > RECYCLE_BYTES:
                    self.end()
                reason = answer.get("reason")
                if reason is not None:
                    raise FetchError(reason)
                return ImageFacts(*answer["facts"])
            code = self.end()
            if code == OUT_OF_MEMORY:
                raise FetchError("too_many_pixels")
            if code == -signal.SIGXCPU:
                break
        raise FetchError("corrupt_image")

    def end(self) -> int:
        """End the process, if there is one; its exit code. The next picture starts another."""
        process, self._process = self._process, None
        if process is None:
            return 0
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        with suppress(OSError):  # it is dead, with a picture half read
            process.stdin.close()
        return process.wait()

    def _ask(self, content: bytes) -> dict[str, Any] | None:
        """The answer of the process; None if it died."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(content).to_bytes(LENGTH_BYTES, "big"))
            process.stdin.write(content)
            process.stdin.flush()
        except OSError:
            return None
        line = process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", decoder_process.__name__, *self._asked],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | import_environment() | _ONE_THREAD,
            start_new_session=True,  # Ctrl-C is the driver's business
        )
        assert process.stdout is not None
        if process.stdout.readline() != READY:
            process.kill()
            process.communicate()
            raise OSError(f"the process that decodes images did not start: exit code {process.returncode}")
        return process
