"""What a licence is called: one short name for every address and every spelling of a Creative Commons licence.

The names are those of SPDX (https://spdx.org/licenses) in lower case, without a port's country: by/3.0/us and by/3.0
are both cc-by-3.0. Addresses: https://creativecommons.org/share-your-work/cclicenses and, of old and retired ones,
https://creativecommons.org/retiredlicenses.
"""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import unquote

OTHER = "other"  # a licence is named, and is none that is known here
READ = 2_000  # characters of an address or a statement that are looked at

# From free to strict: what may be done with a work under the later ones may be done under the earlier ones too.
FAMILIES = (
    "pdm", "cc0", "pddl", "cc-pddc", "cc-by", "odc-by", "ogl-uk", "cc-sa", "cc-by-sa", "odbl", "fal", "gfdl",
    "cc-nd", "cc-by-nd", "cc-nc", "cc-by-nc", "cc-nc-sa", "cc-by-nc-sa", "cc-nc-nd", "cc-by-nc-nd", OTHER,
)  # fmt: skip

_HOST = r"(?:https?:)?(?://)?(?:www\.)?"
_CC = re.compile(
    _HOST + r"creativecommons\.org(?::\d{1,5})?/+\s*(?:licen[sc]es/+\s*([a-z0-9+-]{2,20})|publicdomain/+\s*(zero|mark))"
    r"(?:\s*/+\s*(?:(?!\d{1,2}\.\d)[a-z-]{0,10}/+)?v?(\d{1,2}\.\d)(?!\d))?(?=[^a-z0-9.+-]|[/.]|$)",
    re.IGNORECASE,
)
_CC0_PAGES = re.compile(
    _HOST + r"creativecommons\.org/(?:share-your-work/)?(?:public-?domain/)?(?:cc0|about/cc0)(?![a-z0-9])",
    re.IGNORECASE,
)
_PARTS = ("by", "nc", "nd", "sa")
_OTHERS = tuple(
    (re.compile(_HOST + pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"gnu\.org/(?:copyleft|licenses)/(?:old-licenses/)?fdl(?:-(\d\.\d))?", "gfdl"),
        (r"nationalarchives\.gov\.uk/doc/open-government-licence/?(?:version/(\d))?", "ogl-uk"),
        (r"opendatacommons\.org/licenses/odbl/?(?:v?(\d[.-]\d))?", "odbl"),
        (r"opendatacommons\.org/licenses/by/?(?:v?(\d[.-]\d))?", "odc-by"),
        (r"opendatacommons\.org/licenses/pddl/?(?:v?(\d[.-]\d))?", "pddl"),
        (r"artlibre\.org/licence/lal", "fal"),
    )
)

_GAP = r"[\s_/-]{0,3}"
_VERSION = rf"(?:{_GAP}v?(?:ersion\s)?(\d\.\d)(?!\d))?"
# CC BY-NC-SA 4.0, cc_by_3.0, CC0; not the "cc by" of a letter's copies: there is no such line in a licence field.
_SHORT = re.compile(
    rf"(?<![a-z0-9])cc{_GAP}(0|zero|by(?:{_GAP}(?:nc|nd|sa)(?![a-z]))*)(?![a-z]){_VERSION}", re.IGNORECASE
)
# Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International, as the deeds are titled in English.
_LONG = re.compile(
    rf"creative{_GAP}commons{_GAP}(?:(zero|attribution|namensnennung|atribuci[oó]n|attribuzione|atribui[cç][aã]o)"
    rf"((?:{_GAP}(?:non{_GAP}commercial|no{_GAP}deriv(?:ative)?s?(?:{_GAP}works)?|share{_GAP}alike|"
    rf"nicht{_GAP}kommerziell|keine{_GAP}bearbeitung(?:en)?|weitergabe{_GAP}unter{_GAP}gleichen{_GAP}bedingungen|"
    rf"no{_GAP}comercial|compartir{_GAP}igual|sin{_GAP}derivad[ao]s?|non{_GAP}commerciale|condividi{_GAP}allo{_GAP}stesso"
    rf"{_GAP}modo|compartilha{_GAP}igual))*)){_VERSION}",
    re.IGNORECASE,
)
_MARK = re.compile(rf"public{_GAP}domain{_GAP}mark{_VERSION}", re.IGNORECASE)
_WORDS = (
    ("nc", re.compile(r"non?.?(?:commercial|comercial)|nicht", re.IGNORECASE)),
    ("nd", re.compile(r"deriv|bearbeitung", re.IGNORECASE)),
    ("sa", re.compile(r"alike|gleichen|igual|stesso", re.IGNORECASE)),
)


def licence_of_url(url: str) -> str | None:
    """The name of the licence at a URL; None for an unknown URL."""
    text = unquote(url[:READ].strip())
    found = _CC.match(text)
    if found is not None:
        return _of_code(found)
    if _CC0_PAGES.match(text):
        return "cc0-1.0"
    for pattern, name in _OTHERS:
        if other := pattern.match(text):
            version = (other[1] or "").replace("-", ".") if other.re.groups else ""
            return _versioned(name, f"{version}.0" if version.isdigit() else version)
    return None


def licences_in(text: str) -> list[str]:
    """The names of the licences that a statement names, by address or in words, each once, in its order."""
    text = text[:READ]
    found = [(m.start(), name) for m in _CC.finditer(text) if (name := _of_code(m))]
    found += [(m.start(), _named(_codes(m[1]), m[2])) for m in _SHORT.finditer(text)]
    found += [(m.start(), _named(_of_words(m[1], m[2]), m[3])) for m in _LONG.finditer(text)]
    found += [(m.start(), _versioned("pdm", m[1] or "1.0")) for m in _MARK.finditer(text)]
    return list(dict.fromkeys(name for _, name in sorted(found)))


def family_of(name: str) -> str:
    """A licence's name without its version: cc-by-sa of cc-by-sa-4.0."""
    family, dash, version = name.rpartition("-")
    return family if dash and version[:1].isdigit() else name


def strictest(names: list[str]) -> str:
    """Of several licences the one that allows the least; of the versions of one the oldest."""
    return max(names, key=lambda name: (_rank(family_of(name)), [-ord(c) for c in name]))


def allowed(name: str, required: frozenset[str]) -> bool:
    """Whether a licence is one of those that are required, with the version where one is given there."""
    return name in required or family_of(name) in required


@cache
def _rank(family: str) -> int:
    return FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)


def _of_code(found: re.Match[str]) -> str | None:
    code, public, version = (found[1] or "").lower(), (found[2] or "").lower(), found[3]
    if public:
        return _versioned("cc0" if public == "zero" else "pdm", version or "1.0")
    if code == "publicdomain":
        return "cc-pddc"
    if code in ("zero", "cc0"):
        return "cc0-1.0"
    parts = set(code.split("-"))
    return _named(parts, version) if parts and parts <= set(_PARTS) else None


def _codes(short: str) -> set[str]:
    if short.lower() in ("0", "zero"):
        return set()
    return set(re.findall("by|nc|nd|sa", short.lower()))


def _of_words(first: str, rest: str) -> set[str]:
    if first.lower() == "zero":
        return set()
    return {"by"} | {part for part, words in _WORDS if words.search(rest)}


def _named(parts: set[str], version: str | None) -> str:
    """The name of a licence by its conditions; none of them is CC0."""
    if not parts:
        return "cc0-1.0"
    if {"nd", "sa"} <= parts:
        parts = parts - {"sa"}  # no licence has both: what forbids changes is the stricter
    return _versioned("-".join(["cc", *(part for part in _PARTS if part in parts)]), version)


def _versioned(family: str, version: str | None) -> str:
    return f"{family}-{version}" if version else family
