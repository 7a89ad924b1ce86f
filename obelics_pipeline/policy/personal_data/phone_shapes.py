"""How people write the national numbers of a region, where that alone says that it is a phone number.

What phonenumbers knows of a region comes first; `SHAPES` has what people do besides. A number that is written otherwise
is one where a word beside it says so (cues.PHONE).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from phonenumbers.phonemetadata import PhoneMetadata

from obelics_pipeline.policy.personal_data.regions import REGIONS

_S = r"[ .\-]"  # between groups
_NANP = (
    rf"(?:1[ .\-])?(?:\([0-9]{{3}}\)[ .\-]?|[0-9]{{3}}-)[0-9]{{3}}{_S}[0-9]{{4}}"
    r"|(?:1\.)?[2-9][0-9]{2}\.[0-9]{3}\.[0-9]{4}|[2-9][0-9]{2} [2-9][0-9]{2}-[0-9]{4}"
)
# With the 0 that most countries dial before a number at home, set apart from the rest, or as one row.
_TRUNK = (
    r"(?:\(0[0-9]{0,5}\)[ \-]?|0[0-9]{1,5} ?[ /\-–] ?)[0-9](?:[0-9]|[ \-/](?=[0-9])){4,11}"
    r"|0[0-9]{1,3}(?:\.[0-9]{3,4}){2}"
)
LONGEST_ROW = 11  # digits; shorter ones are other numbers as often
_ROW = rf"0[1-9][0-9]{{7,{LONGEST_ROW - 2}}}"

SHAPES: dict[str, str] = {
    "US": _NANP,
    "CA": _NANP,
    "GB": r"\(?0(?:[1-9][0-9]{1,4})\)? ?[0-9]{3,4} [0-9]{3,6}|\(?0[12378][0-9]{2,4}\)?[ \-][0-9]{3}[ \-]?[0-9]{3,4}"
    r"|\(?0[1-9][0-9]{3,4}\)?[ \-][0-9]{5,6}|07[0-9]{9}|07[0-9]{3} ?[0-9]{6}|0[0-9]{2}[ \-][0-9]{4}[ \-][0-9]{4}",
    "DE": _TRUNK + r"|01[567][0-9]{8,9}|0[2-9][0-9]{8,10}",
    "HU": r"(?:\(?06\)?[ \-]?)?[1-9][0-9]?/[0-9]{3}[ \-][0-9]{3,4}",
    "FR": rf"(?:\(0\)|0)[1-9](?:{_S}?[0-9]{{2}}){{4}}",
    "BE": rf"0[0-9]{{1,3}}[ /.\-][0-9]{{2,3}}(?:{_S}[0-9]{{2}}){{2,3}}|04[0-9]{{2}}[ /][0-9]{{6}}",
    "ES": rf"[679][0-9]{{2}}(?:{_S}[0-9]{{2}}){{3}}|[679][0-9]{{2}}[ \-.][0-9]{{3}}[ \-.][0-9]{{3}}|[67][0-9]{{8}}"
    r"|9[0-9](?:[ \-][0-9]{3}[ \-][0-9]{2}[ \-][0-9]{2})",
    "MX": r"(?:\([0-9]{2,3}\) ?|[0-9]{2} )[0-9]{3,4}[ \-][0-9]{4}",
    "AR": r"(?:\(0?[0-9]{2,4}\) ?|0[0-9]{2,4}[ \-])(?:15[ \-]?)?[0-9]{3,4}[ \-][0-9]{4}",
    "IT": rf"0[0-9]{{1,3}}[ /.\-][0-9]{{5,8}}|0[0-9]{{1,3}}{_S}[0-9]{{2,4}}{_S}[0-9]{{2,4}}(?:{_S}[0-9]{{2,4}})?"
    rf"|3[0-9]{{2}}[ /.\-][0-9]{{6,7}}|3[0-9]{{2}}{_S}[0-9]{{3}}{_S}[0-9]{{3,4}}|3[2-9][0-9]{{8}}"
    rf"|3[0-9]{{2}}{_S}[0-9]{{2}}{_S}[0-9]{{2}}{_S}[0-9]{{3}}",
    "PT": r"(?:9[1236]|2[0-9])[0-9][ \-][0-9]{3}[ \-][0-9]{3}|9[1236][0-9]{7}"
    r"|(?:9[1236]|2[0-9])[ \-][0-9]{3}[ \-][0-9]{2}[ \-][0-9]{2}",
    "BR": r"\(0?[0-9]{2}\) ?(?:9[ .\-]?)?[0-9]{4}[ .\-]?[0-9]{4}|0?[1-9][0-9] 9?[0-9]{4}[ \-][0-9]{4}"
    r"|0800[ \-][0-9]{3}[ \-][0-9]{4}",
    "PL": r"(?:4[5-9]|5[0137]|6[0-9]|7[2389]|88)[0-9]?[ \-][0-9]{3}[ \-][0-9]{3}"
    r"|\(?[1-8][0-9]\)? [0-9]{3}[ \-][0-9]{2}[ \-][0-9]{2}",
    "RU": r"(?:8|7)[ \-]?(?:\([0-9]{3,5}\)|[0-9]{3,5})[ \-]?[0-9]{1,3}[ \-][0-9]{2}[ \-]?[0-9]{2}"
    r"|\([0-9]{3,5}\) ?[0-9]{1,3}[ \-][0-9]{2}[ \-][0-9]{2}|89[0-9]{9}|8 ?\([0-9]{3}\) ?[0-9]{7}",
    "JP": r"\(?0[0-9]{1,4}\)?[ \-]?\(?[0-9]{1,4}\)?-[0-9]{4}|0[0-9]{1,4}\([0-9]{1,4}\)[0-9]{4}|0[789]0[0-9]{8}"
    r"|\(0[0-9]{1,4}\) ?[0-9]{1,4}[ \-][0-9]{4}|0[0-9]{1,3} [0-9]{3,4} [0-9]{4}|0(?:120|800)-[0-9]{3}-[0-9]{3}",
    "CN": r"1[3-9][0-9][ \-]?[0-9]{4}[ \-]?[0-9]{4}|\(?0[0-9]{2,3}\)?[ \-]?[0-9]{7,8}"
    r"|\(?0[0-9]{2,3}\)?[ \-][0-9]{3,4} [0-9]{4}"
    r"|[48]00[ \-][0-9]{3}[ \-][0-9]{4}",
    "HK": r"[235-9][0-9]{3} [0-9]{4}",
    "KR": r"0[0-9]{1,2}(?:[ \-.\)]|\) )[0-9]{3,4}[ \-.][0-9]{4}",
    "IN": r"[6-9][0-9]{4}[ \-][0-9]{5}|\(?0[0-9]{2,4}\)?[ \-][0-9]{6,8}|\(?0[0-9]{2,4}\)?[ \-][0-9]{3,4}[ \-][0-9]{4}"
    r"|0[6-9][0-9]{9}|0?[6-9][0-9]{2}[ \-][0-9]{3}[ \-][0-9]{4}",
    "SA": r"0(?:5[0-9]|1[0-9])[ \-]?[0-9]{3}[ \-]?[0-9]{4}|920[0-9]{6}",
    "EG": r"01[0125][ \-]?[0-9]{4}[ \-]?[0-9]{4}|01[0125][0-9][ \-][0-9]{3}[ \-][0-9]{4}"
    r"|\(?0[23]\)?[ \-][0-9]{4}[ \-]?[0-9]{4}",
    "MA": r"0[5-7](?:[ .\-]?[0-9]{2}){4}",
    "TR": r"\(?0? ?\(?[2-5][0-9]{2}\)?[ \-]{1,2}[0-9]{3}[ \-]?[0-9]{2}[ \-]?[0-9]{2}|05[0-9]{9}"
    r"|\(0[2-5][0-9]{2}\)[ \-]?[0-9]{7}"
    r"|0 ?\([2-5][0-9]{2}\) ?[0-9]{3}[ \-]?[0-9]{2}[ \-]?[0-9]{2}|0[2-5][0-9]{2}[ \-][0-9]{3}[ \-]?[0-9]{4}",
    "AU": r"\(?0[2-478]\)? ?[0-9]{4}[ \-][0-9]{4}|04[0-9]{2}[ \-]?[0-9]{3}[ \-]?[0-9]{3}"
    r"|1[38]00[ \-][0-9]{3}[ \-][0-9]{3}",
    "VN": r"0[0-9]{2,3}[ .\-][0-9]{3}[ .\-][0-9]{3,4}|0[35789][0-9]{8}",
}
FEWEST_GROUPS = 3  # of digits, in what the library writes: two are a price or a range as often
# On the pages of any region, where it has an extension too: a number of North America.
_AMERICAN = r"\([2-9][0-9]{2}\) ?[2-9][0-9]{2}-[0-9]{4}|[2-9][0-9]{2}[-.][2-9][0-9]{2}[-.][0-9]{4}"
_BEGIN = r"(?<![0-9])(?<![0-9][.,/\-:])(?<![0-9] [.\-])(?<![0-9] )(?<!\+)(?<![0-9] - )"
_END = r"(?![0-9])(?![.,:][0-9])(?!-[0-9])(?!/[0-9]{3,})(?! ?[%‰°€£¥₽₹₺$])(?! ?[+*/=×] ?[0-9])"
_END += r"(?! - [0-9])(?! [0-9]{2,3}(?![0-9:.]))"  # sums, and rows of more groups than a number has


@lru_cache(maxsize=1_024)
def shapes(regions: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern of national numbers as people of these regions write them."""
    known = dict.fromkeys(shape for region in regions for shape in (*_own(region), *_if_valid(region)))
    return re.compile(f"{_BEGIN}(?:{'|'.join(f'(?:{shape})' for shape in (*known, _AMERICAN))}){_END}")


@cache
def own_shape(region: str) -> re.Pattern[str]:
    """What is so like this region that it need be no number that was given out, and nothing around it."""
    return re.compile("|".join(_own(region)) or r"(?!)")


def _own(region: str) -> Iterator[str]:
    if region in SHAPES:
        yield SHAPES[region]
    elif _has_trunk(region) and region not in REGIONS["en"]:
        yield _TRUNK


def _if_valid(region: str) -> Iterator[str]:
    """What is a number where the library says that such a one was given out."""
    if _has_trunk(region):
        yield from (_ROW, _TRUNK)
    elif region not in SHAPES and (metadata := PhoneMetadata.metadata_for_region(region, None)) is not None:
        for known in metadata.number_format:
            groups = re.findall(r"\((.*?)\)", known.pattern or "")
            if len(groups) >= FEWEST_GROUPS:
                prefix = rf"(?:\(?{metadata.national_prefix}[ /\-]?)?\(?" if metadata.national_prefix else r"\(?"
                yield prefix + groups[0] + r"\)?[ ./\-]" + r"[ .\-]".join(groups[1:])


def _has_trunk(region: str) -> bool:
    metadata = PhoneMetadata.metadata_for_region(region, None)
    return metadata is not None and metadata.national_prefix == "0"
