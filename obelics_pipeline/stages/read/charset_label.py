"""From the charset labels that pages and servers write to the decoder that reads such pages best."""

from __future__ import annotations

import re

from resiliparse.parse.encoding import map_encoding_to_html5

# WHATWG's decoders are supersets of what their labels say; these are Python's nearest (encoding.spec.whatwg.org).
WIDER = {
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "iso8859-11": "cp874",
    "utf-8": "utf-8",
}
MORE_LABELS = {
    "x-mac-cyrillic": "mac_cyrillic",
    "x-mac-ukrainian": "mac_cyrillic",
    "x-user-defined": "cp1252",
    "utf_8": "utf-8",
    "utf8mb4": "utf-8",
    "utf-8-sig": "utf-8",
    "uhc": "cp949",  # as uchardet calls it
    "cp949": "cp949",
}
MULTIBYTE = frozenset(("gb18030", "cp932", "cp949", "big5hkscs", "euc_jp", "iso2022_jp"))

HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:+-]+)", re.IGNORECASE)
META_SCAN = 4096  # bytes; the standard asks for 1024, pages put scripts first
META_CHARSET = re.compile(
    rb"<!--.*?-->|<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_.:+-]+)"
    rb"|<\?xml\b[^>]*?\bencoding\s*=\s*[\"']\s*([A-Za-z0-9_.:+-]+)",
    re.IGNORECASE | re.DOTALL,
)


def codec_of(label: str | None) -> str | None:
    """The Python codec for a label, None for one that is unknown or must not be used (utf-7, the codecs of no text)."""
    if not label:
        return None
    name = label.strip().lower()
    codec = MORE_LABELS.get(name) or map_encoding_to_html5(name, False)
    return WIDER.get(codec, codec) if codec else None


def header_codec(content_type: str | None) -> str | None:
    """The codec that a Content-Type header names."""
    found = HEADER_CHARSET.search(content_type) if content_type else None
    return codec_of(found[1]) if found else None


def meta_codec(body: bytes) -> str | None:
    """The codec that a meta element or the XML declaration names, comments skipped.

    A declaration that could be read as ASCII is not UTF-16, whatever it says (WHATWG).
    """
    for found in META_CHARSET.finditer(body[:META_SCAN]):
        codec = codec_of((found[1] or found[2] or b"").decode("ascii"))
        if codec:
            return "utf-8" if codec.startswith("utf-16") else codec
    return None
