"""Charsets: declared well, declared wrongly, not declared; and one bad byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.read.charset import SOURCES, decode_html
from obelics_pipeline.stages.read.charset_label import codec_of, meta_codec

GERMAN = "Über den Fluß führen schöne Brücken, die Mädchen grüßen höflich – „ganz nah“. " * 12
RUSSIAN = "Эта диета пришла к нам с запада и в своей основе содержит ограничение углеводов. " * 12
JAPANESE = "利用時の通信を暗号化し保護するアプリを発表した。公式ストアにて販売され、提供している。" * 12
KOREAN = "그래서 처음 이러한 사진 공개에 대한 대중들의 반응은 행동에 대한 비난으로 이어졌다. " * 12
SIMPLIFIED = "香港媒体于六月份报道首批违建部分后，参选人向法院提出选举呈请，至中旬仍在进行。" * 12
TRADITIONAL = "香港媒體於六月份報導首批違建部分後，參選人向法院提出選舉呈請，至中旬仍在進行。" * 12
GREEK = "Η δίαιτα αυτή ήρθε από τη δύση και στη βάση της περιέχει περιορισμό υδατανθράκων. " * 12

LEGACY = [
    ("windows-1252", "cp1252", GERMAN),
    ("latin1", "cp1252", GERMAN),
    ("ISO-8859-1", "cp1252", GERMAN),
    ("iso-8859-15", "iso8859-15", GERMAN.replace("–", "€").replace("„", "").replace("“", "")),
    ("windows-1251", "cp1251", RUSSIAN),
    ("koi8-r", "koi8-r", RUSSIAN),
    ("shift_jis", "cp932", JAPANESE),
    ("x-sjis", "cp932", JAPANESE),
    ("euc-jp", "euc_jp", JAPANESE),
    ("iso-2022-jp", "iso2022_jp", JAPANESE),
    ("euc-kr", "cp949", KOREAN),
    ("ks_c_5601-1987", "cp949", KOREAN),
    ("gb2312", "gb18030", SIMPLIFIED),
    ("gbk", "gb18030", SIMPLIFIED),
    ("big5", "big5hkscs", TRADITIONAL),
    ("windows-1253", "cp1253", GREEK),
    ("utf-8", "utf-8", RUSSIAN),
]


def page(text: str, label: str | None = None) -> str:
    meta = f'<meta charset="{label}">' if label else ""
    return f"<html><head>{meta}<title>t</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(("label", "codec", "text"), LEGACY)
def test_a_label_in_the_header_or_in_meta_is_followed(label: str, codec: str, text: str) -> None:
    for declared, header, source in ((None, f"text/html; charset={label}", "header"), (label, "text/html", "meta")):
        decoded = decode_html(page(text, declared).encode(codec), header)
        assert decoded.text == page(text, declared)
        assert decoded.charset == codec
        assert decoded.source in (source, "content")


@pytest.mark.parametrize(("label", "codec", "text"), [row for row in LEGACY if row[1] != "iso2022_jp"])
def test_one_bad_byte_costs_one_character(label: str, codec: str, text: str) -> None:
    whole = page(text, label)
    for bad in (b"\xff", b"\x80", b"\xe2\x82"):
        middle = whole.encode(codec).index(b"</p>")
        body = whole.encode(codec)
        decoded = decode_html(body[:middle] + bad + b" " + body[middle:], f"text/html; charset={label}")
        assert text[:400] in decoded.text
        assert decoded.text.endswith("</body></html>")


@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, JAPANESE, KOREAN, SIMPLIFIED])
@pytest.mark.parametrize("label", ["iso-8859-1", "windows-1251", "shift_jis", "gb2312", "made-up", None])
def test_utf8_is_recognised_under_any_label_also_with_a_bad_byte(text: str, label: str | None) -> None:
    header = f"text/html; charset={label}" if label else None
    body = page(text).encode()
    assert decode_html(body, header).text == page(text)
    assert text in decode_html(body.replace(b"</p>", b"\xe9</p>"), header).text


@pytest.mark.parametrize(
    ("codec", "text"),
    [("cp1251", RUSSIAN), ("cp932", JAPANESE), ("cp949", KOREAN), ("gb18030", SIMPLIFIED), ("big5hkscs", TRADITIONAL)],
)
@pytest.mark.parametrize("label", ["utf-8", "iso-8859-1", None])
def test_a_label_that_is_plainly_wrong_gives_way_to_detection(codec: str, text: str, label: str | None) -> None:
    decoded = decode_html(page(text).encode(codec), f"text/html; charset={label}" if label else None)
    assert text in decoded.text
    assert decoded.source == "detected"


@pytest.mark.parametrize(("label", "codec", "text"), [row for row in LEGACY if row[1] not in ("cp1252", "iso8859-15")])
def test_of_header_and_meta_the_one_that_fits_is_taken(label: str, codec: str, text: str) -> None:
    body = page(text, label).encode(codec)
    assert text in decode_html(body, "text/html; charset=ISO-8859-1").text
    assert text in decode_html(body, "text/html; charset=utf-8").text


def test_the_header_wins_over_a_wrong_meta() -> None:
    assert RUSSIAN in decode_html(page(RUSSIAN, "utf-8").encode("cp1251"), "text/html; charset=windows-1251").text
    assert JAPANESE in decode_html(page(JAPANESE, "euc-kr").encode("cp932"), "text/html; charset=shift_jis").text


@pytest.mark.parametrize(
    ("codec", "mark"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")]
)
def test_a_byte_order_mark_wins_and_is_removed(codec: str, mark: bytes) -> None:
    decoded = decode_html(mark + page(RUSSIAN, "windows-1251").encode(codec), "text/html; charset=koi8-r")
    assert decoded.text == page(RUSSIAN, "windows-1251")
    assert (decoded.charset, decoded.source) == (codec, "bom")


def test_utf16_without_a_mark_is_recognised() -> None:
    assert decode_html(page(GERMAN).encode("utf-16-le"), None).text == page(GERMAN)
    assert decode_html(page(GERMAN).encode("utf-16-be"), "text/html").text == page(GERMAN)


def test_a_few_chinese_characters_that_happen_to_be_utf8_are_not() -> None:
    body = "<meta charset=gb2312><p>hello 建 </p>".encode("gb18030").replace("建".encode("gb18030"), b"\xc4\xa3")
    assert decode_html(body, "text/html; charset=gb2312").text == "<meta charset=gb2312><p>hello 模 </p>"


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b"<meta http-equiv=Content-Type content='text/html; charset=big5'>", "big5hkscs"),
        (b"<META CHARSET=Shift_JIS />", "cp932"),
        (b"<?xml version='1.0' encoding='euc-kr'?>", "cp949"),
        (b"<!-- <meta charset=gbk> --><meta charset='koi8-r'>", "koi8-r"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=made-up><meta charset=big5>", "big5hkscs"),
        (b" " * 1500 + b"<meta charset=gbk>", "gb18030"),
        (b"<meta name=description content=x>", None),
        (b"<meta charset=", None),
    ],
)
def test_the_meta_declaration_is_found(head: bytes, codec: str | None) -> None:
    assert meta_codec(head) == codec


@pytest.mark.parametrize("label", ["utf-7", "base64", "zlib", "rot13", "idna", "unicode_escape", "", "\0", "x" * 999])
def test_a_label_of_no_text_encoding_is_unknown(label: str) -> None:
    assert codec_of(label) is None


@given(
    body=st.binary(max_size=400),
    label=st.sampled_from([row[0] for row in LEGACY] + ["utf-16", "utf-16be", "hz-gb-2312", "tis-620", "big5-hkscs"]),
    inside=st.booleans(),
)
def test_any_bytes_give_text_without_nul_and_without_surrogates(body: bytes, label: str, inside: bool) -> None:
    data = (f"<meta charset={label}>".encode() if inside else b"") + body
    decoded = decode_html(data, None if inside else f"text/html; charset={label}")
    assert "\0" not in decoded.text
    decoded.text.encode("utf-8")
    assert decoded.source in SOURCES
