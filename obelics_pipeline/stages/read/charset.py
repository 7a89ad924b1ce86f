"""From the bytes of a page to its text: BOM, HTTP header, meta, then detection, each checked against the bytes.

A label is a claim. UTF-8 is so unlikely by accident that bytes that are UTF-8 are taken as such, also with a bad
byte here and there; any other claim holds unless the bytes speak plainly against it.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from resiliparse.parse.encoding import detect_encoding

from obelics_pipeline.stages.read.charset_label import MULTIBYTE, codec_of, header_codec, meta_codec

SOURCES = ("bom", "header", "meta", "content", "detected")
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
DEFAULT = "cp1252"  # WHATWG's fallback for most locales
FEW_BYTES = 16  # non-ASCII bytes up to which valid UTF-8 may be an accident of a declared CJK charset
MIN_DENSE = 20  # non-ASCII bytes from which their distribution says something
DENSE = 0.8  # share of non-ASCII bytes beside another one: beyond it the text is in no Latin script
MAX_BAD = 0.05  # undecodable share of the characters that are not ASCII, up to which a charset fits
SAMPLE = 64 * 1024  # bytes shown to the detector, from the first that is not ASCII
UTF16_MARKUP = re.compile(rb"(?:(?:[\t\n\r ]\0)*+(<\0[!?A-Za-z]\0)|(?:\0[\t\n\r ])*+\0<\0[!?A-Za-z])")
NOT_ASCII = re.compile(rb"[\x80-\xff]+")
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a page, the Python name of its charset, and what told it: one of SOURCES."""

    text: str
    charset: str
    source: str


def decode_html(body: bytes, content_type: str | None) -> Decoded:
    """Decode a page; never fails. `content_type` is the HTTP header's value. No NUL, no lone surrogate comes out."""
    for mark, codec in BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], codec, "bom")
    header = header_codec(content_type)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return _unmarked_utf16(body) or _legacy(body, header, meta_codec(body))
    if len(body) - len(text) <= FEW_BYTES and (legacy := _seemingly_utf8(body, header)):
        return legacy
    if b"\0" in body:  # far cheaper to look for in bytes than in text
        text = text.replace("\0", "")
    return Decoded(text, "utf-8", "header" if header == "utf-8" else "content")


def _decoded(body: bytes, codec: str, source: str) -> Decoded:
    text = body.decode(codec, "replace").replace("\0", "")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = SURROGATE.sub("\ufffd", text)
    return Decoded(text, codec, source)


def _seemingly_utf8(body: bytes, header: str | None) -> Decoded | None:
    """Bytes that are valid UTF-8 by accident: 7-bit Japanese, UTF-16 without a mark, a few CJK characters."""
    if body.isascii():
        escaped = (b"\x1b$B" in body or b"\x1b$@" in body) and _bad_share(body, "iso2022_jp") == 0
        return _decoded(body, "iso2022_jp", "content") if escaped else _unmarked_utf16(body)
    for codec, source in ((header, "header"), (meta_codec(body), "meta")):
        if codec == "utf-8":
            return None
        if codec in MULTIBYTE:
            return _decoded(body, codec, source) if _bad_share(body, codec) == 0 else None
    return None


def _unmarked_utf16(body: bytes) -> Decoded | None:
    """UTF-16 without a byte order mark shows in the zero bytes of its markup: in the first tag, or in all of it."""
    begun = UTF16_MARKUP.match(body)
    if begun is not None:
        return _decoded(body, "utf-16-le" if begun[1] else "utf-16-be", "content")
    if body.count(0) * 3 < len(body) or not body:
        return None
    return _decoded(body, "utf-16-be" if body[::2].count(0) > body[1::2].count(0) else "utf-16-le", "content")


def _legacy(body: bytes, header: str | None, meta: str | None) -> Decoded:
    """Decode bytes that are not wholly UTF-8."""
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = _not_ascii(text) - bad
    if good >= (bad if "utf-8" in (header, meta) else 4 * bad):
        source = "header" if header == "utf-8" else "meta" if meta == "utf-8" else "content"
        return _decoded(body, "utf-8", source)
    claims = [(codec, source) for codec, source in ((header, "header"), (meta, "meta")) if _credible(body, codec)]
    if not claims:
        return _detected(body)
    if len({codec for codec, _ in claims}) > 1:
        claims = [_better(body, claims)]
    codec, source = claims[0]
    if codec == DEFAULT and _dense(body):
        detected = _detected(body)
        if detected.charset not in (DEFAULT, "cp1250", "cp1254", "iso8859-15"):
            return detected
    return _decoded(body, str(codec), source)


def _credible(body: bytes, codec: str | None) -> bool:
    """Whether bytes that are not UTF-8 may be of this charset."""
    if codec is None or codec == "utf-8":
        return False
    if codec.startswith("utf-16"):
        return body.count(0) * 10 > len(body)
    return _bad_share(body, codec) <= MAX_BAD


def _better(body: bytes, claims: list[tuple[str | None, str]]) -> tuple[str | None, str]:
    """The better of two credible charsets that differ: the detector's, else the multi-byte one, which rarely fits by
    chance.
    """
    detected = _detect(body)
    for claim in claims:
        if claim[0] == detected:
            return claim
    if _dense(body):
        return next((claim for claim in claims if claim[0] in MULTIBYTE), claims[0])
    return claims[0]


def _bad_share(body: bytes, codec: str) -> float:
    """Undecodable characters as a share of those that are not ASCII."""
    text = body.decode(codec, "replace")
    other = _not_ascii(text)
    return text.count("\ufffd") / other if other else 0.0


def _not_ascii(text: str) -> int:
    """How many characters are not ASCII."""
    return len(text) - len(text.encode("ascii", "ignore"))


def _dense(body: bytes) -> bool:
    """Whether non-ASCII bytes stand in runs, as in any script but the Latin one."""
    runs = [len(run) for run in NOT_ASCII.findall(body)]
    total = sum(runs)
    return total >= MIN_DENSE and sum(n for n in runs if n > 1) >= DENSE * total


def _detect(body: bytes) -> str | None:
    first = NOT_ASCII.search(body)
    start = max(first.start() - 1024, 0) if first else 0
    return codec_of(detect_encoding(body[start : start + SAMPLE], html5_compatible=False))


def _detected(body: bytes) -> Decoded:
    """The detector's charset if it fits, else windows-1252, in which every byte is a character."""
    codec = _detect(body)
    if codec is None or codec == "utf-8" or not _credible(body, codec):
        codec = DEFAULT
    return _decoded(body, codec, "detected")
