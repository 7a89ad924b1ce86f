"""Codings: every one, stacked ones, lying headers, cut bodies, bombs."""

from __future__ import annotations

import contextlib
import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.read.payload import BadEncodingError, PayloadTooLargeError, decode_payload, looks_like_text

PAGE = b"<html><body>" + bytes(range(32, 127)) * 40 + "Grüße".encode() + b"</body></html>"
LIMIT = 1 << 20


def chunked(body: bytes, size: int = 1000) -> bytes:
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACKED = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE),
    "GZIP": gzip.compress(PAGE[:50]) + gzip.compress(PAGE[50:]),
    "deflate": zlib.compress(PAGE),
    " deflate ": raw_deflate(PAGE),
    "br": brotli.compress(PAGE),
    "zstd": zstandard.ZstdCompressor().compress(PAGE),
    "gzip, br": brotli.compress(gzip.compress(PAGE)),
    "identity": PAGE,
}


@pytest.mark.parametrize("coding", PACKED)
def test_each_coding_is_undone(coding: str) -> None:
    assert decode_payload(PACKED[coding], None, coding, LIMIT) == PAGE
    assert decode_payload(chunked(PACKED[coding]), "chunked", coding, LIMIT) == PAGE


@pytest.mark.parametrize("coding", [*PACKED, "none", "made-up", "UTF-8", "gzip, gzip"])
def test_a_body_that_is_text_is_taken_as_it_is(coding: str) -> None:
    assert decode_payload(PAGE, None, coding, LIMIT) == PAGE
    assert decode_payload(PAGE, "chunked", None, LIMIT) == PAGE


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_cut_body_gives_what_there_is(coding: str) -> None:
    body = PACKED[coding]
    assert PAGE.startswith(decode_payload(body[: len(body) - 6], None, coding, LIMIT))


def test_a_cut_chunked_body_gives_what_there_is() -> None:
    cut = decode_payload(chunked(PAGE)[:2000], "chunked", None, LIMIT)
    assert PAGE.startswith(cut)
    assert 1950 < len(cut) < 2000


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "made-up"])
def test_what_is_neither_text_nor_the_coding_is_refused(coding: str) -> None:
    with pytest.raises(BadEncodingError):
        decode_payload(bytes(range(256)) * 9, None, coding, LIMIT)


def test_a_hundredth_of_control_bytes_is_text_and_more_is_not() -> None:
    tagged = b"<p>" + b"a" * 1000
    assert looks_like_text(b"\0" * 10 + tagged[:1000])
    assert not looks_like_text(b"\0" * 11 + tagged[:1000])
    assert looks_like_text(b"\0" + tagged[:99])
    assert not looks_like_text(b"\0" + tagged[:98])


def test_control_bytes_without_a_tag_are_no_text() -> None:
    assert looks_like_text(b"a" * 1000)
    assert not looks_like_text(b"\0" + b"a" * 1000)
    assert looks_like_text(b"\t\n\r\f\x1b" * 9)
    assert not looks_like_text(b"")


def test_only_the_beginning_of_a_body_says_whether_it_is_text() -> None:
    assert looks_like_text(b"a" * 1024 + b"\0")
    assert not looks_like_text(b"a" * 1023 + b"\0")
    assert looks_like_text(b"\xff\xfea\0b\0") and looks_like_text(b"\xfe\xff\0a\0b")


def test_five_stacked_codings_are_undone_and_six_are_refused() -> None:
    body = PAGE
    for _ in range(5):
        body = gzip.compress(body)
    assert decode_payload(body, None, ", ".join(["gzip"] * 5), LIMIT) == PAGE
    with pytest.raises(BadEncodingError):
        decode_payload(gzip.compress(body), None, ", ".join(["gzip"] * 6), LIMIT)


def bombs() -> dict[str, bytes]:
    zeros = bytes(1 << 21)
    packer = zlib.compressobj(1, wbits=31)
    return {
        "gzip": b"".join(packer.compress(zeros) for _ in range(32)) + packer.flush(),
        "gzip, gzip": gzip.compress(gzip.compress(zeros * 16, 1), 1),
        "deflate": zlib.compress(zeros * 16, 1),
        "br": brotli.compress(zeros * 16, quality=1),
        "zstd": zstandard.ZstdCompressor().compress(zeros * 16),
    }


def test_a_bomb_is_refused_within_bounded_memory() -> None:
    for coding, body in bombs().items():
        tracemalloc.start()
        with pytest.raises(PayloadTooLargeError):
            decode_payload(body, None, coding, LIMIT)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 24 * LIMIT, coding


def test_a_page_of_exactly_the_limit_is_kept() -> None:
    assert len(decode_payload(gzip.compress(b"a" * LIMIT), None, "gzip", LIMIT)) == LIMIT
    with pytest.raises(PayloadTooLargeError):
        decode_payload(b"a" * (LIMIT + 1), None, None, LIMIT)
    with pytest.raises(BadEncodingError):
        decode_payload(PAGE, None, ", ".join(["gzip"] * 9), LIMIT)


@given(
    body=st.binary(max_size=300),
    names=st.lists(st.sampled_from(["gzip", "br", "deflate", "zstd", "x"]), max_size=3),
    transfer=st.sampled_from([None, "chunked", "gzip, chunked"]),
    start=st.sampled_from([b"", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x78\x9c", b"5\r\n"]),
)
def test_any_bytes_under_any_header_end_in_bytes_or_a_known_error(
    body: bytes, names: list[str], transfer: str | None, start: bytes
) -> None:
    with contextlib.suppress(PayloadTooLargeError, BadEncodingError):
        assert len(decode_payload(start + body, transfer, ",".join(names), 4096)) <= 4096
