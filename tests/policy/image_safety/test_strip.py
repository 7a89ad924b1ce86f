"""Metadata is taken out of files without touching their pixels: where a photo was taken goes, its orientation stays."""

import io
import json
import re
import shutil
import struct
import subprocess
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ExifTags, Image

from obelics_pipeline.policy.image_safety import exif, iptc, png, xmp
from obelics_pipeline.policy.image_safety.strip import Unreadable, strip_metadata
from tests.policy.image_safety import photos

FILES: dict[str, Callable[[], bytes]] = {
    "jpeg": photos.jpeg,
    "png": photos.png,
    "webp": photos.webp,
    "avif": photos.avif,
    "gif": photos.gif,
}
POLICIES = ("strip_location", "strip_all_but_orientation")


def opened(content: bytes) -> Image.Image:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        image = Image.open(io.BytesIO(content))
        image.load()
    return image


def pixels(content: bytes) -> Any:
    image = opened(content)
    return np.asarray(image.convert("RGBA"))


def pixel_bytes(content: bytes, format_: str) -> bytes:
    """The bytes that decode to pixels, without the structure around them."""
    if format_ == "jpeg":
        return content[content.index(b"\xff\xda") : content.index(b"\xff\xd9", content.index(b"\xff\xda"))]
    if format_ == "png":
        return b"".join(
            m[0] for m in re.finditer(rb"IDAT.*?(?=....(?:IDAT|tEXt|IEND|eXIf|zTXt|iTXt|prVt))", content, re.S)
        )
    if format_ == "webp":
        at = content.index(b"VP8")
        at = content.index(b"VP8 ", at) if b"VP8 " in content else content.index(b"VP8L")
        return content[at : at + 8 + struct.unpack_from("<I", content, at + 4)[0]]
    if format_ == "avif":  # the picture is the last item
        return content[-200:]
    at = content.index(b"\x2c")
    return content[at : content.index(b"\x00\x21\xff\x0bXMP", at)] if b"XMP DataXMP" in content else content[at:-2]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("format_", FILES)
def test_location_goes_and_pixels_and_their_bytes_stay(format_: str, policy: Any) -> None:
    content = FILES[format_]()
    assert any(secret in content for secret in photos.SECRETS)
    found = strip_metadata(content, format_, policy)
    left = [secret for secret in photos.SECRETS if secret in found or any(secret in text for text in unpacked(found))]
    assert left == []
    assert (pixels(found) == pixels(content)).all()
    assert pixel_bytes(found, format_) == pixel_bytes(content, format_)
    assert not opened(found).getexif().get_ifd(0x8825)
    assert opened(found).info.get("icc_profile") == opened(content).info.get("icc_profile")
    assert strip_metadata(found, format_, policy) == found  # nothing is left to be done


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", photos.KINDS)
@pytest.mark.parametrize("order", "<>")
def test_wherever_exif_says_it_it_goes_and_the_orientation_stays(kind: str, order: str, policy: Any) -> None:
    format_ = kind.split()[0]
    for n, name in enumerate(photos.places(order, 1)):
        orientation = 1 + n % 8
        content = photos.packed(kind, photos.places(order, orientation)[name])
        assert said_where(content), name
        found = strip_metadata(content, format_, policy)
        assert said_where(found) == [], name
        assert opened(content).getexif()[0x0112] in (orientation, 1), name  # of AVIF the picture's own counts
        assert opened(found).getexif()[0x0112] == opened(content).getexif()[0x0112], name
        assert (pixels(found) == pixels(content)).all()
        assert strip_metadata(found, format_, policy) == found


def said_where(content: bytes) -> list[bytes]:
    """What of a file says where: also of what is packed, or in hexadecimal."""
    raw = [bytes.fromhex(m[0].decode()) for part in (content, *unpacked(content)) for m in HEX.finditer(part)]
    numbers = [struct.pack(f"{order}{len(photos.LATITUDE)}I", *photos.LATITUDE) for order in "<>"]
    secrets = (*photos.SECRETS, *numbers)
    return [secret for secret in secrets for part in (content, *unpacked(content), *raw) if secret in part]


HEX = re.compile(rb"(?:[0-9a-f]{2}){40,}")


@pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is not installed")
@pytest.mark.parametrize("policy", POLICIES)
def test_exiftool_finds_no_location(policy: Any, tmp_path: Path) -> None:
    made = {
        f"{kind} {order} {name}": (kind.split()[0], photos.packed(kind, value))
        for kind in photos.KINDS
        for order in "<>"
        for name, value in photos.places(order, 6).items()
    } | {format_: (format_, make()) for format_, make in FILES.items()}
    for n, (format_, content) in enumerate(made.values()):
        (tmp_path / f"{n}.{format_}").write_bytes(strip_metadata(content, format_, policy))
    command = ["exiftool", "-a", "-u", "-U", "-ee", "-G1", "-json", str(tmp_path)]
    said = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert len(said) == len(made)
    for tags in said:
        where = {
            name: value for name, value in tags.items() if re.search("GPS|Location|City|GARDEN", f"{name} {value}")
        }
        assert where == {}, (list(made)[int(Path(tags["SourceFile"]).stem)], where)


def unpacked(content: bytes) -> list[bytes]:
    """What is compressed in chunks of texts."""
    found = []
    for start in (m.start() for m in re.finditer(rb"x[\x01\x5e\x9c\xda]", content)):
        try:
            found.append(zlib.decompressobj().decompress(content[start:], 2**16))
        except zlib.error:
            continue
    return found


@pytest.mark.parametrize("format_", ["jpeg", "png", "webp", "avif"])
def test_orientation_stays_and_of_the_rest_what_the_policy_says(format_: str) -> None:
    content = FILES[format_]()
    orientation = opened(content).getexif().get(0x0112)
    plain = opened(strip_metadata(content, format_, "strip_location")).getexif()
    assert plain.get(0x0112) == orientation == photos.ORIENTATION
    assert (plain[0x8298], plain[0x0110]) == (photos.RIGHTS, "Camera 3")
    details = plain.get_ifd(0x8769)
    assert (details[0xA431], details[0x9003], details[0x829A]) == ("SERIAL-000123", "2031:05:04 06:00:00", 1 / 250)
    assert 0x927C not in details
    bare = strip_metadata(content, format_, "strip_all_but_orientation")
    assert dict(opened(bare).getexif()) == {0x0112: orientation}
    for text in (b"SERIAL", b"Camera", photos.RIGHTS.encode(), b"2031"):
        assert text not in bare


def test_credits_stay_where_only_location_goes() -> None:
    for format_ in ("jpeg", "png", "webp", "avif"):
        found = strip_metadata(FILES[format_](), format_, "strip_location")
        everything = b"".join([found, *unpacked(found)])
        assert b'photoshop:Credit="A > B"' in everything
        assert f'<rdf:li xml:lang="x-default">{photos.RIGHTS}</rdf:li>'.encode() in everything
    jpeg = strip_metadata(photos.jpeg(), "jpeg", "strip_location")
    assert b"A caption" in jpeg and b"a comment" in jpeg
    assert b"a comment" not in strip_metadata(photos.jpeg(), "jpeg", "strip_all_but_orientation")


@pytest.mark.parametrize(("format_", "make"), [("jpeg", photos.jpeg), ("png", photos.png), ("webp", photos.webp)])
def test_a_file_without_location_is_left_as_it_is(format_: str, make: Callable[..., bytes]) -> None:
    content = make(location=False)
    assert strip_metadata(content, format_, "strip_location") == content
    assert strip_metadata(content, format_, "keep") == content


@pytest.mark.parametrize(
    "options", [{"progressive": True}, {"subsampling": 0, "optimize": True}, {"restart_marker_rows": 1}]
)
def test_every_kind_of_scan_is_copied(options: dict[str, Any]) -> None:
    content = photos.jpeg(**options)
    found = strip_metadata(content, "jpeg", "strip_all_but_orientation")
    assert (pixels(found) == pixels(content)).all()
    start = content.index(b"\xff\xda")
    assert found[found.index(b"\xff\xda") :] == content[start : content.rindex(b"\xff\xd9") + 2]


def test_a_photo_with_others_behind_it_is_its_first() -> None:
    first, second = photos.picture(1), photos.picture(2)
    content = photos.saved("MPO", first, save_all=True, append_images=[second], exif=photos.exif())
    assert Image.open(io.BytesIO(content)).format == "MPO"
    found = strip_metadata(content, "jpeg", "strip_location")
    assert opened(found).format == "JPEG"
    assert (pixels(found) == pixels(content)).all()
    assert found.count(b"\xff\xd8\xff") == 1


def test_lossless_and_transparent_webp_keep_their_flags() -> None:
    image = photos.picture().convert("RGBA")
    image.putalpha(128)
    content = photos.saved("WEBP", image, lossless=True, exif=photos.exif(), xmp=photos.XMP)
    found = strip_metadata(content, "webp", "strip_all_but_orientation")
    assert (pixels(found) == pixels(content)).all()
    flags = found[found.index(b"VP8X") + 8]
    assert flags & 0x10 and flags & 0x08 and not flags & 0x04


def test_a_thumbnail_with_metadata_of_its_own_goes_and_a_plain_one_stays() -> None:
    plain = photos.saved("JPEG", photos.picture(3, (32, 24)))
    for thumbnail, stays in ((plain, True), (plain[:2] + photos.segment(0xE1, photos.exif()) + plain[2:], False)):
        found = exif.without_location(with_thumbnail(thumbnail))
        assert found is not None
        assert (plain[20:] in found) is stays
        assert b"GARDEN-STREET-7" not in found
        read = Image.Exif()
        read.load(found)
        assert (0x0201 in read.get_ifd(ExifTags.IFD.IFD1)) is stays
        alone = with_thumbnail(thumbnail).replace(struct.pack(">H", 0x8825), struct.pack(">H", 0x8826), 1)
        assert (exif.without_location(alone) == alone) is stays  # the thumbnail is all that it has


def with_thumbnail(thumbnail: bytes) -> bytes:
    """EXIF in the other byte order, with a GPS directory before the thumbnail."""
    secret = b"GARDEN-STREET-7\x00"
    gps_at = 8 + 2 + 12 * 2 + 4
    text_at = gps_at + 2 + 12 + 4
    small_at = text_at + len(secret)
    data_at = small_at + 2 + 12 * 2 + 4
    out = b"MM\x00*" + struct.pack(">I", 8)
    out += struct.pack(">H", 2) + struct.pack(">HHIHH", 0x0112, 3, 1, 6, 0) + struct.pack(">HHII", 0x8825, 4, 1, gps_at)
    out += struct.pack(">I", small_at)
    out += struct.pack(">H", 1) + struct.pack(">HHII", 0x1D, 2, len(secret), text_at) + struct.pack(">I", 0) + secret
    out += struct.pack(">H", 2) + struct.pack(">HHII", 0x0201, 4, 1, data_at)
    out += struct.pack(">HHII", 0x0202, 4, 1, len(thumbnail)) + struct.pack(">I", 0)
    return b"Exif\x00\x00" + out + thumbnail


SECRET = b"GARDEN-STREET-7"
LOCATED = b"Exif\0\0" + photos.tiff({0x8825: photos.GPS})


def with_segment(marker: int, payload: bytes) -> bytes:
    plain = photos.saved("JPEG")
    return plain[:2] + photos.segment(marker, payload) + plain[2:]


def animation() -> bytes:
    """A WebP of two frames, with EXIF among the chunks of the first."""
    images = [photos.picture(n) for n in (1, 2)]
    made = photos.saved("WEBP", images[0], save_all=True, append_images=images[1:], exif=photos.exif())
    at = made.index(b"ANMF")
    (size,) = struct.unpack_from("<I", made, at + 4)
    chunk = b"EXIF" + struct.pack("<I", len(LOCATED)) + LOCATED
    end = at + 8 + size
    made = made[: at + 4] + struct.pack("<I", size + len(chunk)) + made[at + 8 : end] + chunk + made[end:]
    return made[:4] + struct.pack("<I", len(made) - 8) + made[8:]


def box(kind: bytes, payload: bytes) -> bytes:
    return struct.pack(">I", 8 + len(payload)) + kind + payload


ODD = {
    "a JFIF thumbnail with EXIF": ("jpeg", with_segment(0xE0, b"JFXX\0\x10" + with_segment(0xE1, LOCATED))),
    "EXIF in the frame of an animation": ("webp", animation()),
    "a box that nobody knows": ("avif", photos.saved("AVIF") + box(b"prVt", SECRET) + box(b"free", SECRET)),
    "an item that nobody knows": (
        "avif",
        photos.avif().replace(b"infe\2\0\0\0\0\2\0\0Exif", b"infe\2\0\0\0\0\2\0\0prVt"),
    ),
    "a GIF with a byte between its blocks": ("gif", photos.gif().replace(b"\x21\xff\x0bXMP", b"\0\x21\xff\x0bXMP")),
    "pictures in XMP": (
        "jpeg",
        with_segment(
            0xE1,
            b"http://ns.adobe.com/xap/1.0/\0"
            + b"<r xmlns:GImage='g' xmlns:x='x' GImage:Data='"
            + SECRET
            + b"'><x:Thumbnails>"
            + SECRET
            + b"</x:Thumbnails></r>",
        ),
    ),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ODD)
def test_what_is_said_in_odd_places_goes_too(name: str, policy: Any) -> None:
    format_, content = ODD[name]
    assert SECRET in content
    found = strip_metadata(content, format_, policy)
    assert SECRET not in found
    assert getattr(opened(found), "n_frames", 1) == getattr(opened(content), "n_frames", 1)
    assert (pixels(found) == pixels(content)).all()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("format_", ["jpeg", "png", "webp"])
def test_an_orientation_that_xmp_alone_tells_stays(format_: str, policy: Any) -> None:
    packets = (
        photos.XMP.replace(b"exif:GPSLatitude", b'tiff:Orientation="6" exif:GPSLatitude'),
        b"<r><tiff:Orientation>6</tiff:Orientation><exif:GPSLatitude>64",
    )
    for packet in packets:
        if format_ == "jpeg":
            content = with_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet)
        elif format_ == "png":
            text = b"XML:com.adobe.xmp\0\0\0\0\0" + packet
            content = photos.with_chunk(photos.saved("PNG"), b"iTXt", text)
        else:
            content = photos.saved("WEBP", xmp=packet)
        found = strip_metadata(content, format_, policy)
        assert opened(content).getexif()[0x0112] == opened(found).getexif()[0x0112] == 6
        assert said_where(found) == [] and b"GPS" not in found


def nested(depth: int) -> bytes:
    """Directories of EXIF in each other."""
    tags: photos.Tags = {0x8825: photos.GPS}
    out = bytearray(photos.tiff({0x0112: 6, 0x8769: tags}))
    entry = struct.pack("<HHHII", 1, 0x8769, 4, 1, 0)
    link = 8 + 2 + 12 + 8
    for _ in range(depth):
        struct.pack_into("<I", out, link, len(out))
        link = len(out) + 10
        out += entry
    return bytes(out)


def items(number: int, extents: int) -> bytes:
    """An AVIF whose table of places is long."""
    one = struct.pack(">HHH", 1, 0, extents)
    iloc = box(b"iloc", b"\0\0\0\0\0\0" + struct.pack(">H", number) + one * number)
    return box(b"ftyp", b"avif") + box(b"meta", b"\0\0\0\0" + box(b"iinf", bytes(6)) + iloc)


@pytest.mark.timeout(30)
def test_avif_that_is_not_told_apart_is_refused_at_once() -> None:
    for content in (items(60_000, 60_000), items(60_000, 0), box(b"ftyp", b"mif3") + box(b"mini", SECRET)):
        with pytest.raises(Unreadable):
            strip_metadata(content, "avif", "strip_location")


def test_texts_that_cost_time_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    unpack, packets = png._unpacked, list[bytes]()
    monkeypatch.setattr(png, "_unpacked", lambda packed: packets.append(packed) or unpack(packed))
    blanks = b"<r xmlns:exif='e' exif:GPSLatitude='64'" + b" " * 1_000_000 + b"/>"
    lines = b"\n" * 3 + (photos.tiff({0x0112: 6, 0x010F: b"x" * 400_000})).hex().encode()
    packed = b"Raw profile type exif\0\0" + zlib.compress(lines)
    chunk = struct.pack(">I", len(packed)) + b"zTXt" + packed + struct.pack(">I", zlib.crc32(b"zTXt" + packed))
    plain = photos.with_chunk(photos.saved("PNG"), b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + blanks)
    end = plain.index(b"IDAT") - 4
    found = strip_metadata(plain[:end] + chunk * 1000 + plain[end:], "png", "strip_location")
    assert len(packets) == 1
    assert b"GPS" not in found and opened(found).getexif()[0x0112] == 6


def loop(order: str = "<") -> bytes:
    """Directories that lead to themselves and to each other."""
    entries = [(0x8769, 4, 1, 8), (0x8825, 4, 1, 8), (0x0112, 3, 1, 6)]
    body = struct.pack(f"{order}H", len(entries)) + b"".join(struct.pack(f"{order}HHII", *e) for e in sorted(entries))
    return (
        (b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(f"{order}I", 8) + body + struct.pack(f"{order}I", 8)
    )


HOSTILE = {
    "a loop": loop(),
    "a count beyond the end": b"II*\x00\x08\x00\x00\x00\xff\xff" + struct.pack("<HHII", 0x8825, 4, 1, 8),
    "a value of four gigabytes": b"II*\x00\x08\x00\x00\x00\x01\x00"
    + struct.pack("<HHII", 0x010F, 2, 2**32 - 1, 8)
    + b"\0\0\0\0",
    "a directory beyond the end": b"II*\x00\xff\xff\xff\xff",
    "many tags of one large value": b"II*\x00\x08\x00\x00\x00"
    + struct.pack("<H", 4001)
    + b"".join(struct.pack("<HHII", 1 + n, 7, 48_000, 8) for n in range(4000))
    + struct.pack("<HHII", 0x8825, 4, 1, 8)
    + b"\0\0\0\0",
    "directories in each other": nested(3000),
    "no TIFF": b"GARDEN-STREET-7",
    "nothing": b"",
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("policy", POLICIES)
def test_malformed_metadata_goes_alone_and_at_once(name: str, policy: Any) -> None:
    value = HOSTILE[name]
    plain = photos.saved("JPEG")
    jpeg = plain[:2] + photos.segment(0xE1, b"Exif\x00\x00" + value) + plain[2:]
    found = strip_metadata(jpeg, "jpeg", policy)
    assert len(found) <= len(jpeg)
    assert b"GARDEN" not in found
    assert (np.asarray(Image.open(io.BytesIO(found))) == np.asarray(Image.open(io.BytesIO(plain)))).all()


BAD_XML = {
    "a bomb": b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>',
    "not closed": b"<x:xmpmeta xmlns:x='a'><x:GPSLatitude>1",
    "deep": b"<a>" * 5000 + b"</a>" * 5000,
    "another encoding": photos.XMP.decode().encode("utf-16"),
    "nothing": b"",
}


@pytest.mark.parametrize("name", BAD_XML)
def test_xmp_that_is_not_read_is_removed(name: str) -> None:
    assert xmp.without_location(BAD_XML[name]) is None


def test_an_attribute_in_any_dress_is_cut_and_its_neighbours_are_not() -> None:
    packet = (
        b"<r xmlns:exif='e' xmlns:a='a' a:Title='GPS and 64,1N' exif:GPSLatitude\n = \"6>4\"  a:Mood='x' >"
        b"<a:Geometry>4</a:Geometry><exif:GPSLatitude/><a:gpsTrack><a:b/></a:gpsTrack><a:City>Rome</a:City>"
        b"<a:Capacity>4</a:Capacity></r>"
    )
    wanted = (
        b"<r xmlns:exif='e' xmlns:a='a' a:Title='GPS and 64,1N'  a:Mood='x' >"
        b"<a:Geometry>4</a:Geometry><a:Capacity>4</a:Capacity></r>"
    )
    assert xmp.without_location(packet) == wanted


@pytest.mark.parametrize(
    "name",
    (
        "exif:GPSLatitude photoshop:City photoshop:Country Iptc4xmpExt:LocationShown Iptc4xmpCore:CountryCode geo:lat "
        "drone-dji:AbsoluteAltitude GPano:PoseLatitude"
    ).split(),
)
def test_names_that_say_where(name: str) -> None:
    assert xmp.is_where(name)


@pytest.mark.parametrize(
    "name",
    (
        "dc:title photoshop:Credit exif:PixelXDimension tiff:Orientation xmp:Rating crs:GeometryMode xmlns:geo "
        "dc:creator photoshop:CaptionWriter a:Capacity rdf:Alt"
    ).split(),
)
def test_names_that_do_not(name: str) -> None:
    assert not xmp.is_where(name)


def test_iptc_that_is_not_read_is_removed() -> None:
    assert iptc.without_location(photos.iptc()[:-9]) is None
    assert iptc.without_location(b"Photoshop 2.0\x00") is None
    extended = photos.iptc(location=False).replace(b"\x1c\x02\x78\x00", b"\x1c\x02\x78\x80", 1)
    assert iptc.without_location(extended) is None


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.sampled_from(POLICIES), st.data())
def test_broken_files_are_stripped_or_refused_and_nothing_else(format_: str, policy: Any, data: st.DataObject) -> None:
    content = bytearray(CACHED[format_])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(12, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(20, len(content)))
    try:
        found = strip_metadata(bytes(content[:cut]), format_, policy)
    except Unreadable:
        return
    assert len(found) <= cut + 2


CACHED = {name: make() for name, make in FILES.items()}


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_exif_or_none(value: bytes, header: bool) -> None:
    tiff = (b"II*\x00\x08\x00\x00\x00" if header else b"") + value
    for found in (exif.without_location(tiff), exif.orientation_alone(tiff)):
        assert found is None or len(found) <= max(len(tiff), 26)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.integers(0x0100, 0x0200), st.text(min_size=1, max_size=40), max_size=12),
    st.integers(2, 8),
    st.booleans(),
)
def test_what_may_stay_of_exif_stays(texts: dict[int, str], orientation: int, big: bool) -> None:
    made = Image.Exif()
    if big:
        made.endian = ">"
    kept = {
        tag: text.encode("ascii", "replace").decode()
        for tag, text in texts.items()
        if tag not in (0x0112, 0x0201, 0x0202)
    }
    kept = {
        tag: text.replace("\x00", "0") for tag, text in kept.items() if tag in (0x010E, 0x010F, 0x0110, 0x0131, 0x013B)
    }
    for tag, text in kept.items():
        made[tag] = text
    made[0x0112] = orientation
    made.get_ifd(0x8825)[1] = "N"
    found = exif.without_location(made.tobytes())
    assert found is not None
    read = Image.Exif()
    read.load(found)
    assert dict(read) == kept | {0x0112: orientation}
    alone = exif.orientation_alone(made.tobytes())
    assert alone is not None
    read.load(alone)
    assert dict(read) == {0x0112: orientation}


@pytest.mark.parametrize("format_", ["tiff", "xyz"])
def test_a_format_whose_parts_are_not_known_is_refused(format_: str) -> None:
    with pytest.raises(Unreadable):
        strip_metadata(b"II*\x00", format_, "strip_location")
    assert strip_metadata(b"II*\x00", format_, "keep") == b"II*\x00"
