"""What a picture does to its decoder it does to no other process: memory, time and crashes end with it."""

import io
import os
import resource
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch import decoder, decoder_process
from obelics_pipeline.stages.fetch.decoder import Decoder, check_apart
from obelics_pipeline.stages.fetch.image_check import ImageFacts, check_image
from tests.faults.runs import ROOT
from tests.stages.fetch.site import picture

CONFIG = FetchingConfig(max_pixels=1_000_000)
FORMATS = ("jpeg", "png", "webp", "gif", "bmp", "tiff", "avif")
LIMIT = decoder_process.BYTES_PER_PIXEL * CONFIG.max_pixels + decoder_process.MORE_BYTES


@pytest.fixture(scope="module")
def shared() -> Iterator[Decoder]:
    """One for all tests that let it live."""
    made = Decoder(CONFIG.max_pixels, CONFIG.max_frames)
    yield made
    made.end()


@pytest.fixture
def own() -> Iterator[Decoder]:
    made = Decoder(CONFIG.max_pixels, CONFIG.max_frames)
    yield made
    made.end()


def reason_of(content: bytes, asked: Decoder) -> str | None:
    try:
        asked.check(content)
    except FetchError as error:
        return error.reason
    return None


def process_of(asked: Decoder) -> int:
    """Its id; a decoder that has none yet starts one."""
    asked.check(picture())
    assert asked._process is not None
    return asked._process.pid


def is_running(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def many_strips(count: int) -> bytes:
    """A TIFF file of 40 x 30 pixels that announces so many strips: a list of as many places is made of them."""
    entries = [(256, 4, 1, 40), (257, 4, 1, 30), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, count, None),
               (277, 3, 1, 1), (278, 4, 1, 1), (279, 4, 1, 40)]  # fmt: skip
    behind = 8 + 2 + 12 * len(entries) + 4
    rows = [struct.pack("<HHII", tag, kind, n, behind if value is None else value) for tag, kind, n, value in entries]
    return b"II*\0" + struct.pack("<IH", 8, len(rows)) + b"".join(rows) + bytes(4) + struct.pack("<I", 9) * count


def many_texts(count: int) -> bytes:
    """A PNG file of 40 x 30 pixels with so many texts about nothing."""
    whole = picture("png")

    def chunk(content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + b"iTXt" + content + struct.pack(">I", zlib.crc32(b"iTXt" + content))

    return whole[:33] + b"".join(chunk(b"%d\0\0\0\0\0" % n) for n in range(count)) + whole[33:]


def many_markers(count: int) -> bytes:
    """A JPEG file of 40 x 30 pixels with so many comments, empty ones."""
    whole = picture()
    return whole[:2] + b"\xff\xfe\x00\x02" * count + whole[2:]


BOMBS = {"strips": many_strips(1_000_000), "texts": many_texts(300_000), "markers": many_markers(2_000_000)}


@pytest.mark.parametrize("format", FORMATS)
def test_a_decoder_apart_says_what_one_here_says(format: str, shared: Decoder) -> None:
    whole = picture(format)
    here = check_image(whole, CONFIG)
    assert shared.check(whole) == here == ImageFacts(format, 40, 30)
    assert shared.check(whole).phash == here.phash is not None


@pytest.mark.parametrize(
    "content", [picture()[:-200], b"\xff\xd8\xff" + bytes(100), picture("png", (2000, 600)), b"GIF89a"]
)
def test_what_is_no_image_of_bearable_size_has_the_same_reason_apart(content: bytes, shared: Decoder) -> None:
    with pytest.raises(FetchError) as here:
        check_image(content, CONFIG)
    assert reason_of(content, shared) == here.value.reason


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_picture_that_wants_much_memory_is_refused_and_the_next_is_read(bomb: str, shared: Decoder) -> None:
    assert reason_of(BOMBS[bomb], shared) == "too_many_pixels"
    assert shared.check(picture()) == ImageFacts("jpeg", 40, 30)


def test_a_decoder_may_take_so_much_memory_and_no_more(shared: Decoder) -> None:
    process = process_of(shared)
    has = int(Path(f"/proc/{process}/statm").read_text().split()[0]) * resource.getpagesize()
    may, _ = resource.prlimit(process, resource.RLIMIT_AS)
    assert 0 < may <= has + LIMIT


def test_a_picture_that_takes_too_long_ends_its_decoder_and_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many scans as fit a file, each over all pixels."""
    file = io.BytesIO()
    Image.new("RGB", (1000, 1000)).save(file, "JPEG", progressive=True)
    whole = file.getvalue()
    last = whole.rindex(b"\xff\xda")
    bomb = whole[:last] + whole[last:-2] * 40_000 + whole[-2:]
    hasty, starts, start = Decoder(CONFIG.max_pixels, 1, cpu_seconds=1), [], Decoder._start
    monkeypatch.setattr(Decoder, "_start", lambda self: starts.append(1) or start(self))
    assert reason_of(bomb, hasty) == "corrupt_image"
    assert len(starts) == 1
    assert hasty.check(picture()) == ImageFacts("jpeg", 40, 30)
    hasty.end()


def test_a_decoder_that_was_killed_is_replaced_and_the_picture_read(own: Decoder) -> None:
    os.kill(process_of(own), signal.SIGKILL)
    assert own.check(picture()) == ImageFacts("jpeg", 40, 30)


def test_a_decoder_that_has_grown_is_replaced(own: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = process_of(own)
    assert process_of(own) == before
    monkeypatch.setattr(decoder, "RECYCLE_BYTES", -1)
    own.check(picture())
    assert own._process is None
    assert not is_running(before)


def test_a_decoder_ends_with_the_process_that_asks(tmp_path: Path) -> None:
    program = """
import os, signal
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.stages.fetch import decoder
from tests.stages.fetch.site import picture
decoder.check_apart(picture(), FetchingConfig())
print(decoder._decoder(os.getpid(), 50_000_000, 1, ())._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    while is_running(int(done.stdout)):
        time.sleep(0.01)


def test_a_decoder_says_nothing_of_a_process_that_ended_while_it_started() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-P", "-m", decoder_process.__name__, "1000000", "1", "20"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=writes, stderr=subprocess.PIPE, env=environment, check=False
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_decoder_that_cannot_start_is_no_fault_of_a_picture(own: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(OSError, match="did not start"):
        own.check(picture())


def test_what_is_no_image_starts_no_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "_decoder", lambda *_: pytest.fail("started"))
    with pytest.raises(FetchError, match="html"):
        check_apart(b"<!doctype html><p>x", CONFIG)
