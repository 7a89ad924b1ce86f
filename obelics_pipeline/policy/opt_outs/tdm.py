"""Whether the right to mine text and data is reserved: the TDM Reservation Protocol.

W3C Community Group Report of 10 May 2024, https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/, made
for article 4 (3) of Directive (EU) 2019/790. It is said by a file of the site, over that by a header, and over that by
a page's own metas; any value but 0 and 1 says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

RESERVATION, POLICY = "tdm-reservation", "tdm-policy"
WELL_KNOWN = "/.well-known/tdmrep.json"
MAX_FILE = 500 * 2**10  # bytes of a site's file: as many as of a robots.txt; a larger one is not read
MAX_RULES = 10_000
MAX_LOCATION = 2_000  # characters of a pattern
MAX_POLICY = 500  # characters of an address that is stored

Source = Literal["meta", "header", "file"]


@dataclass(frozen=True, slots=True)
class Tdm:
    """The TDM reservation of a site or page. `reserved`: None if nothing is stated."""

    reserved: bool | None = None
    policy: str | None = None
    source: Source | None = None

    @property
    def word(self) -> str:
        """As it is recorded."""
        return "unset" if self.reserved is None else "reserved" if self.reserved else "not_reserved"


UNSET = Tdm()


@dataclass(frozen=True, slots=True)
class TdmRule:
    """A rule of a site's tdmrep.json: whether the paths that a pattern matches are reserved."""

    location: str
    reserved: bool
    policy: str | None = None


def page_tdm(metas: Mapping[str, str], headers: Iterable[tuple[str, str]]) -> Tdm:
    """The TDM reservation in a page's metas, or else in its headers (names in lower case); UNSET without one."""
    given: dict[str, str] = {}
    for name, value in headers:
        given.setdefault(name, value)
    said = _reservation_in(metas, "meta")
    return said if said.reserved is not None else _reservation_in(given, "header")


def read_file(content: bytes) -> list[TdmRule]:
    """The rules of a site's file, in order. Invalid entries are skipped; a malformed file has no rules."""
    if len(content) > MAX_FILE:
        return []
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return []
    found = (_rule(entry) for entry in (value if isinstance(value, list) else [])[:MAX_RULES])
    return [rule for rule in found if rule is not None]


def file_tdm(rules: Iterable[TdmRule], path: str) -> Tdm:
    """The reservation of the first rule that matches a path (with its query); UNSET if no rule matches."""
    wanted = unquote(path)
    rule = next((rule for rule in rules if matches(rule.location, wanted)), None)
    return UNSET if rule is None else Tdm(rule.reserved, rule.policy, "file")


def matches(location: str, path: str) -> bool:
    """Whether a pattern of robots.txt's kind matches a path from its beginning: * is anything, $ the end.

    `path` is unescaped; the pattern's escapes are undone once its special characters are known. Linear, whatever the
    pattern: each piece between two stars is taken where it comes first.
    """
    ends = location.endswith("$")
    pieces = [unquote(piece) for piece in location.removesuffix("$").split("*")]
    if not path.startswith(pieces[0]):
        return False
    at = len(pieces[0])
    if len(pieces) == 1:
        return not ends or at == len(path)
    for piece in pieces[1:-1]:
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    last = pieces[-1]
    return path.endswith(last) and len(path) - len(last) >= at if ends else path.find(last, at) >= 0


def _rule(entry: Any) -> TdmRule | None:
    if not isinstance(entry, dict):
        return None
    location, reserved = entry.get("location"), _value(entry.get(RESERVATION))
    if not isinstance(location, str) or not 0 < len(location) <= MAX_LOCATION or reserved is None:
        return None
    return TdmRule(
        location if location.startswith(("/", "*")) else f"/{location}", reserved, _policy(entry.get(POLICY))
    )


def _reservation_in(values: Mapping[str, str], source: Source) -> Tdm:
    reserved = _value(values.get(RESERVATION))
    return UNSET if reserved is None else Tdm(reserved, _policy(values.get(POLICY)), source)


def _value(value: Any) -> bool | None:
    text = str(value).strip() if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    return {"0": False, "1": True}.get(text)


def _policy(value: Any) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if text.lower().startswith(("http://", "https://")) and len(text) <= MAX_POLICY else None
