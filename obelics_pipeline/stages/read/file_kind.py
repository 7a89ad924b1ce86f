"""The real kind of a body that is called HTML: a picture, a PDF, an archive, JSON, a feed, or bytes that are not text.

Servers send `text/html` with any file. A body that does not begin like a page is recognised by its first bytes, any
other by its share of bytes that no text has, whatever its charset.
"""

from __future__ import annotations

import json
import re

# What files begin with: https://mimesniff.spec.whatwg.org, section 6, and the specification of each format. Where these
# letters could begin a text too (BM, ID3, OTTO), the bytes that always follow them stand here as well.
_BEGINNINGS = {
    "image": rb"\xff\xd8\xff|\x89PNG\r\n\x1a\n|GIF8[79]a|RIFF....WEBPVP|BM....\x00\x00\x00\x00|8BPS\x00|II\*\x00"
    rb"|MM\x00\*|\x00\x00[\x01\x02]\x00[^\x00]\x00|\x00\x00\x00\x0cJXL |\x00\x00\x00\x0cjP  |\x00\x00..ftyp"
    rb"(?:avi|hei|mif)|AT&TFORM....DJV",
    "pdf": rb"%PDF-",
    "postscript": rb"%!PS-Adobe-",
    "audio_or_video": rb"\x00\x00..ftyp|\x00...(?:moov|mdat|wide|free)|\x1a\x45\xdf\xa3|OggS\x00|fLaC\x00"
    rb"|ID3[\x02-\x04]\x00|FLV\x01|RIFF....(?:AVI |WAVE)|FORM....AIF[FC]|MThd\x00\x00\x00\x06|\x00\x00\x01[\xb3\xba]"
    rb"|\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    "archive": rb"\x1f\x8b\x08|PK(?:\x03\x04|\x05\x06|\x07\x08)|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|BZh[1-9]1AY&SY"
    rb"|\xfd7zXZ\x00|\x28\xb5\x2f\xfd|MSCF\x00",
    "font": rb"wOF[F2](?:\x00\x01\x00\x00|OTTO|true)|\x00\x01\x00\x00\x00|OTTO\x00|ttcf\x00",
    "office_file": rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "program": rb"\x7fELF|\x00asm|\xca\xfe\xba\xbe|[CFZ]WS[\x01-\x08\x0e-\x1f]",
}
_BEGINNING = re.compile(b"|".join(b"(?P<%s>%s)" % (k.encode(), v) for k, v in _BEGINNINGS.items()), re.DOTALL)

# Text that is no page: XML whose root is a feed, a list of pages, a map or a drawing. XHTML has another root.
_XML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<[?](?>.*?[?]>)\s*+)*+(?:<!--(?>.*?-->)\s*+)*+"
    rb"<(?:rss|feed|rdf:RDF|urlset|sitemapindex|opml|svg|kml|gpx)(?=[\s>])",
    re.DOTALL,
)
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*+[{\[]")

DATA = ("json", "xml")  # text, as a body without a declared type may be
KINDS = (*_BEGINNINGS, *DATA, "binary")  # the last: no text, and of no known kind

# "Binary data bytes" of https://mimesniff.spec.whatwg.org, section 3, as bytes and as characters; but for NUL, which
# pads pages, and is half of a UTF-16 one.
_BINARY = bytes([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_NOT_TEXT = re.compile(f"[{re.escape(_BINARY.decode())}\ufffd]")
MAX_SHARE = (
    0.01  # of these among all: bytes at random, and so compressed ones, have 0.1; 2,963 real pages 0.0004 at most
)
STEP = 7  # every so many bytes are looked at first: to look at all costs as much as to decode the page six times


def file_kind(body: bytes, text: str) -> str | None:
    """Which of KINDS a body is, None for a page. `text` is what the body decodes to, without NUL."""
    begun = _BEGINNING.match(body)
    if begun is not None:
        return begun.lastgroup
    if _JSON.match(body) and _is_json(text):
        return "json"
    if _XML.match(body):
        return "xml"
    if not _may_be_binary(body[::STEP]):
        return None
    return KINDS[-1] if len(_NOT_TEXT.findall(text)) > MAX_SHARE * len(text) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text.lstrip("\ufeff"), strict=False)
    except RecursionError:  # nothing but brackets
        return True
    except ValueError:
        return False
    return True


def _may_be_binary(sample: bytes) -> bool:
    """Whether bytes are no text, or text whose characters have more than a byte each: UTF-16."""
    binary = len(sample) - len(sample.translate(None, _BINARY))
    return binary > MAX_SHARE * (len(sample) - sample.count(0))
