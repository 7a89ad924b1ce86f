"""What is no page is told by its bytes, and no page is taken for anything else, whatever its charset."""

from __future__ import annotations

import gzip
import io
import random
import zipfile

import pytest
from PIL import Image

from obelics_pipeline.stages.extract.reasons import REASONS
from obelics_pipeline.stages.read.charset import decode_html
from obelics_pipeline.stages.read.file_kind import KINDS, file_kind

RANDOM = random.Random(7).randbytes(20_000)
HEAD = b"<!doctype html><html><head><title>x</title></head><body>"


def kind(body: bytes, content_type: str = "text/html") -> str | None:
    return file_kind(body, decode_html(body, content_type).text)


def picture(form: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (255, 255, 255)).save(out, form)
    return out.getvalue()


def packed() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "plain words, stored as they are " * 40)
    return out.getvalue()


FILES = {
    **{form: ("image", picture(form)) for form in ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "ICO")},
    "AVIF": ("image", b"\0\0\0\x20ftypavif\0\0\0\0mif1avif" + RANDOM),
    "PDF": ("pdf", b"%PDF-1.4\n1 0 obj << /Length 40 >> stream\nBT (plain words) Tj ET\nendstream endobj\n"),
    "PostScript": ("postscript", b"%!PS-Adobe-3.0\n%%Pages: 1\n/Times findfont 12 scalefont setfont\n"),
    "MP4": ("audio_or_video", b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + RANDOM),
    "WebM": ("audio_or_video", b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\1" + RANDOM),
    "MP3": ("audio_or_video", b"ID3\3\0\0\0\0\1\0TIT2" + RANDOM),
    "gzip": ("archive", gzip.compress(b"<html><body>a page within</body></html>")),
    "zip": ("archive", packed()),
    "WOFF2": ("font", b"wOF2\0\1\0\0" + RANDOM),
    "Word": ("office_file", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)),
    "ELF": ("program", b"\x7fELF\2\1\1" + bytes(500)),
    "octets": ("binary", RANDOM),
    "octets after UTF-16's mark": ("binary", b"\xff\xfe" + RANDOM),
    "octets of few values": ("binary", bytes([0x01, 0x61, 0x62, 0x80, 0x05, 0x63]) * 500),
    "picture after a server's warning": ("binary", b"<br /><b>Warning</b>: headers already sent<br />" + RANDOM),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "content_type", ["text/html", "text/html; charset=utf-8", "text/html; charset=gb18030", "text/html; charset=utf-16"]
)
def test_a_file_is_told_by_its_bytes_whatever_the_server_calls_it(name: str, content_type: str) -> None:
    expected, body = FILES[name]
    assert kind(body, content_type) == expected


SENTENCES = {
    "utf-8": "Ein Müller prüft Öl – für 5 €. ",
    "utf-16-le": "Съешь же ещё этих мягких французских булок, да выпей чаю. ",
    "utf-16-be": "いろはにほへと ちりぬるを わかよたれそ つねならむ。",
    "shift_jis": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "euc_jp": "吾輩は猫である。名前はまだ無い。",
    "iso2022_jp": "吾輩は猫である。名前はまだ無い。",
    "gb18030": "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。",
    "big5": "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。",
    "euc_kr": "모든 사람은 태어날 때부터 자유롭고 존엄하다. ",
    "koi8_r": "Съешь же ещё этих мягких французских булок. ",
    "cp1251": "Съешь же ещё этих мягких французских булок. ",
    "cp1255": "כל בני האדם נולדו בני חורין ושווים. ",
    "cp1256": "يولد جميع الناس أحرارا متساوين. ",
    "cp874": "มนุษย์ทั้งหลายเกิดมามีอิสระ ",
    "iso8859_7": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι. ",
    "cp1252": "L’été, où l’on œuvre – à peu près. ",
}


@pytest.mark.parametrize("codec", SENTENCES)
@pytest.mark.parametrize("named", [True, False])
def test_a_page_is_a_page_in_every_encoding(codec: str, named: bool) -> None:
    page = HEAD + b"<p>" + b"</p></body></html>"
    text = page.decode().replace("<p>", f"<p>{SENTENCES[codec] * 30}")
    assert kind(text.encode(codec), f"text/html; charset={codec}" if named else "text/html") is None
    if not codec.startswith("utf-16"):  # without a mark, its markup tells it
        assert kind((SENTENCES[codec] * 30).encode(codec), f"text/html; charset={codec}") is None


@pytest.mark.parametrize(
    "body",
    [
        HEAD + b"<p>half a page" + bytes(4000),
        b"\0" * 3000 + HEAD + b"<p>words",
        HEAD + b"<p>" + b"a line of words\x0b\x0cand one more of them, which is longer than the first\x1a" * 40,
        b"BMW <p>a car</p>",
        b"ID3 tags <p>explained</p>",
        b"MZ is how programs begin",
        b"OTTO <p>a name</p>",
        b"PK is short for penalty kick",
        b"GIF <p>a format</p>",
        b"RIFF in capitals",
        b"\xff\xfb as Latin-1 says it, with enough words behind it to be read",
        b"short\x01",
        b"x",
    ],
)
def test_a_page_with_stray_bytes_or_an_odd_beginning_stays(body: bytes) -> None:
    assert kind(body) is None


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_words_for_people(name: str) -> None:
    assert REASONS[f"not_html_{name}"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"id": 7, "body": "<p>text</p>"}',
        b'\xef\xbb\xbf [{"a": "\xc3\xa9"}]\n',
        b"[" * 100_000,
    ],
)
def test_data_in_json_is_no_page(body: bytes) -> None:
    assert kind(body) == "json"


@pytest.mark.parametrize(
    "body",
    [
        b'<?xml version="1.0"?>\n<?xml-stylesheet href="a"?><!-- a --><rss version="2.0"><channel></channel></rss>',
        b'<feed xmlns="http://www.w3.org/2005/Atom"></feed>',
        b'\xef\xbb\xbf<?xml version="1.0"?><urlset></urlset>',
    ],
)
def test_a_feed_or_a_list_of_pages_is_no_page(body: bytes) -> None:
    assert kind(body) == "xml"


@pytest.mark.parametrize(
    "body",
    [
        b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body>text</body></html>',
        b"{{ header }}<html><body>text</body></html>",
        b'{"a": 1}<p>text</p>',
        b"[1] A note that begins with its number.",
        b"<rssfeed>text</rssfeed>",
        b"<!-- <rss> --><p>text</p>",
        b"<p><svg></svg></p>",
    ],
)
def test_a_page_that_begins_like_data_is_a_page(body: bytes) -> None:
    assert kind(body) is None
