"""Files as cameras and programs write them, with what they say of where a photo was taken."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image, TiffImagePlugin
from PIL.Image import Exif

# Every one of these is where it was taken, in one form or another.
SECRETS = (b"GARDEN-STREET-7", b"Reykjavik-Hlidar", b"GPSLatitude", b"64,8.5123N", b"MAKER-NOTE-64.1418")
RIGHTS = "(c) A. Photographer"
ORIENTATION = 6

XMP = f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
 xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" xmlns:drone-dji="http://www.dji.com/drone-dji/1.0/"
 exif:GPSLatitude="64,8.5123N" photoshop:City='Reykjavik-Hlidar' drone-dji:GpsLongtitude="-21.9"
 photoshop:Credit="A > B"
 Iptc4xmpCore:Location="GARDEN-STREET-7">
<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">{RIGHTS}</rdf:li></rdf:Alt></dc:rights>
<Iptc4xmpExt:LocationCreated><rdf:Bag><rdf:li Iptc4xmpExt:Sublocation="GARDEN-STREET-7"/></rdf:Bag>
</Iptc4xmpExt:LocationCreated><exif:GPSAltitude>12/1</exif:GPSAltitude><exif:GPSVersionID/>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>""".encode()


def exif(location: bool = True, orientation: int = ORIENTATION) -> bytes:
    """EXIF with a GPS directory, a note of the maker's and a thumbnail's directory, written by Pillow."""
    made = Exif()
    made[0x010F], made[0x0110], made[0x8298] = "Made", "Camera 3", RIGHTS
    made[0x0112], made[0x011A] = orientation, TiffImagePlugin.IFDRational(72, 1)
    details = made.get_ifd(0x8769)
    details[0x9003], details[0x829A] = "2031:05:04 06:00:00", TiffImagePlugin.IFDRational(1, 250)
    details[0xA431] = "SERIAL-000123"
    if location:
        details[0x927C] = b"MAKER-NOTE-64.1418"
        gps = made.get_ifd(0x8825)
        gps[0], gps[1], gps[2] = b"\x02\x03\x00\x00", "N", (64.0, 8.0, 30.738)
        gps[3], gps[4], gps[0x1C] = "W", (21.0, 56.0, 0.0), b"ASCII\0\0\0GARDEN-STREET-7"
    return made.tobytes()


# A value of a tag: a number, a text, fractions, the tags of a directory that it points to, or a type and its bytes.
Tags = dict[int, Any]
LATITUDE = (64, 1, 8, 1, 30738, 1000)
GPS: Tags = {1: b"N\0", 2: LATITUDE, 0x1B: b"GARDEN-STREET-7\0"}


def tiff(*chain: Tags | list[tuple[int, Any]], order: str = "<", thumbnail: bytes = b"") -> bytes:
    """EXIF by hand, for what no writer would write: directories one behind the other; tags may be there twice.

    The tag 0x0201 is given the place of the thumbnail, whatever its value is.
    """
    out = bytearray((b"II*\0" if order == "<" else b"MM\0*") + bytes(4))
    link = 4
    for tags in chain:
        struct.pack_into(f"{order}I", out, link, len(out))
        link = _directory(out, list(tags.items()) if isinstance(tags, dict) else tags, order, thumbnail)
    return bytes(out)


def _directory(out: bytearray, tags: list[tuple[int, Any]], order: str, thumbnail: bytes) -> int:
    start = len(out)
    out += struct.pack(f"{order}H", len(tags)) + bytes(12 * len(tags) + 4)
    for n, (tag, value) in enumerate(tags):
        if isinstance(value, dict):
            kind, count, data = 4, 1, struct.pack(f"{order}I", len(out))
            _directory(out, list(value.items()), order, thumbnail)
        elif tag == 0x0201:
            kind, count, data = 4, 1, struct.pack(f"{order}I", len(out))
            out += thumbnail
        elif isinstance(value, int):
            kind, count, data = (
                (3, 1, struct.pack(f"{order}HH", value, 0))
                if tag == 0x0112
                else (4, 1, struct.pack(f"{order}I", value))
            )
        elif isinstance(value, bytes):
            kind, count, data = {0x927C: 7, 0x02BC: 1}.get(tag, 2), len(value), value
        else:
            kind, count, data = 5, len(value) // 2, struct.pack(f"{order}{len(value)}I", *value)
        if len(data) > 4:
            data, at = struct.pack(f"{order}I", len(out)), data
            out += at
        struct.pack_into(f"{order}HHI", out, start + 2 + 12 * n, tag, kind, count)
        out[start + 10 + 12 * n : start + 14 + 12 * n] = data.ljust(4, b"\0")
    return start + 2 + 12 * len(tags)


def places(order: str, orientation: int) -> dict[str, bytes]:
    """EXIF that says where in each of the ways that a reader may find."""
    first: Tags = {0x010F: b"Made\0", 0x0112: orientation}
    small = saved("JPEG", picture(3, (32, 24)))
    inner = tiff({0x0112: 1, 0x8825: GPS}, order=">")
    located = small[:2] + segment(0xE1, b"Exif\0\0" + inner) + small[2:]
    of_small = {0x0103: 6, 0x0201: 0, 0x0202: len(located)}
    return {
        "a directory": tiff({**first, 0x8825: GPS}, order=order),
        "a directory in another": tiff({**first, 0x8769: {0x829A: (1, 250), 0x8825: GPS}}, order=order),
        "that of the thumbnail": tiff(first, {0x0103: 6, 0x8825: GPS}, order=order),
        "one behind the thumbnail's": tiff(first, {0x0103: 6}, {0x8825: GPS}, order=order),
        "one behind that of EXIF": tiff({**first, 0x8769: {0x829A: (1, 250)}}, {0x8825: GPS}, order=order),
        "a second pointer": tiff([*first.items(), (0x8769, {1: b"a\0"}), (0x8769, {0x8825: GPS})], order=order),
        "a thumbnail": tiff(first, of_small, order=order, thumbnail=located),
        "a thumbnail of the picture's own": tiff({**first, **of_small}, order=order, thumbnail=located),
        "notes of the maker": tiff({**first, 0x8769: {0x927C: b"MAKER-NOTE-64.1418"}}, order=order),
        "XMP": tiff({**first, 0x02BC: XMP}, order=order),
        "directories below": tiff({**first, 0x014A: {0x8825: GPS}, 0x8290: GPS}, order=order),
    }


def packed(kind: str, value: bytes) -> bytes:
    """A picture with this EXIF; the kind names the format, and where in it."""
    format_, _, how = kind.partition(" ")
    if format_ == "webp":
        return saved("WEBP", exif=(b"Exif\0\0" if how else b"") + value)
    if format_ == "avif":  # whose writer would write it anew
        place = tiff({0x0131: b"x" * (len(value) - 26)})
        return saved("AVIF", exif=place).replace(place, value)
    plain = saved(format_.upper())
    if format_ == "jpeg":
        last = segment(0xE1, b"Exif\0\0" + exif(orientation=3)) if how == "twice" else b""
        return plain[:2] + segment(0xE1, b"Exif\0\0" + value) + last + plain[2:]
    name, data = b"eXIf", value
    if how:
        lines = b"\nexif\n%8d\n" % (len(value) + 6) + (b"Exif\0\0" + value).hex().encode() + b"\n"
        name, data = (
            how.encode(),
            b"Raw profile type exif\0" + (b"\0" + zlib.compress(lines) if how == "zTXt" else lines),
        )
    return with_chunk(plain, name, data)


def with_chunk(png: bytes, name: bytes, data: bytes) -> bytes:
    end = png.index(b"IDAT") - 4
    chunk = struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return png[:end] + chunk + png[end:]


KINDS = ("jpeg", "jpeg twice", "png", "png tEXt", "png zTXt", "webp", "webp prefixed", "avif")


def iptc(location: bool = True) -> bytes:
    """Photoshop's resources with a caption, and where it was."""

    def data_set(number: int, text: bytes) -> bytes:
        return struct.pack(">BBBH", 0x1C, 2, number, len(text)) + text

    sets = data_set(120, b"A caption") + data_set(116, RIGHTS.encode())
    if location:
        sets += data_set(90, b"Reykjavik-Hlidar") + data_set(92, b"GARDEN-STREET-7") + data_set(101, b"Iceland")
    padded = sets + b"\x00" * (len(sets) % 2)
    return b"Photoshop 3.0\x00" + b"8BIM\x04\x04\x00\x00" + struct.pack(">I", len(sets)) + padded


def picture(seed: int = 0, size: tuple[int, int] = (96, 64)) -> Image.Image:
    draw = np.random.default_rng(seed)
    rough = draw.integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(rough).resize(size, Image.Resampling.BICUBIC)


def saved(format_: str, image: Image.Image | None = None, **options: Any) -> bytes:
    out = io.BytesIO()
    (image or picture()).save(out, format_, **options)
    return out.getvalue()


def segment(marker: int, payload: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(payload) + 2) + payload


def jpeg(location: bool = True, **options: Any) -> bytes:
    """A JPEG with EXIF, XMP, IPTC, a profile, a comment, a segment that only its maker knows, and a film behind it."""
    plain = saved("JPEG", exif=exif(location), icc_profile=b"profile " * 20, comment=b"a comment", **options)
    more = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\x00" + XMP) if location else b""
    more += segment(0xED, iptc(location))
    more += segment(0xE6, b"GoPro\x00GARDEN-STREET-7") if location else b""
    return plain[:2] + more + plain[2:] + (b"\x00\x00\x00\x18ftypmp42GARDEN-STREET-7" if location else b"")


def png(location: bool = True) -> bytes:
    """A PNG with the same in its chunks, compressed ones among them."""
    plain = saved("PNG", exif=exif(location), icc_profile=b"profile " * 20)
    texts = [(b"tEXt", b"Copyright\x00" + RIGHTS.encode("latin-1"))]
    if location:
        packed = zlib.compress(XMP)
        texts += [
            (b"tEXt", b"Raw profile type exif\x00\nexif\n 8\n" + b"GARDEN-STREET-7".hex().encode()),
            (b"iTXt", b"XML:com.adobe.xmp\x00\x01\x00\x00\x00" + packed),
            (b"tEXt", b"exif:GPSLatitude\x0064,8.5123N"),
            (b"zTXt", b"Location\x00\x00" + zlib.compress(b"GARDEN-STREET-7")),
            (b"prVt", b"GARDEN-STREET-7"),
        ]
    chunks = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in texts)
    end = plain.index(b"IEND") - 4
    return plain[:end] + chunks + plain[end:] + (b"GARDEN-STREET-7" if location else b"")


def webp(location: bool = True, **options: Any) -> bytes:
    """A WebP with EXIF and XMP, and a chunk that nobody knows."""
    made = saved("WEBP", exif=exif(location), icc_profile=b"profile " * 20, xmp=XMP if location else b"", **options)
    if not location:
        return made
    made += b"PRVT" + struct.pack("<I", 16) + b"GARDEN-STREET-7\x00"
    return made[:4] + struct.pack("<I", len(made) - 8) + made[8:]


def avif() -> bytes:
    """An AVIF with EXIF and XMP."""
    return saved("AVIF", exif=exif(), xmp=XMP, quality=80)


def gif() -> bytes:
    """A GIF with a packet of XMP, as Adobe puts it, and a comment."""
    plain = saved("GIF", picture().convert("P"), comment=b"a comment")
    trailer = b"\x01" + bytes(range(255, -1, -1)) + b"\x00"
    xmp = b"\x21\xff\x0bXMP DataXMP" + XMP + trailer
    end = len(plain) - 1
    assert plain[end] == 0x3B
    return plain[:end] + xmp + plain[end:]
