"""Something that a page says about a licence: of itself, or of one of its pictures."""

from __future__ import annotations

from dataclasses import dataclass

from obelics_pipeline.policy.opt_outs.licence_id import OTHER, licence_of_url, licences_in, strictest
from obelics_pipeline.stages.extract.urls import join_url

MAX_CLAIMS = 200  # elements that are looked at, of each kind: a page that has more is a list of works
MAX_URL = 500  # characters of an address that is stored
MAX_PICTURES = 200


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that is said of the page."""

    licence: str
    source: str
    url: str | None


def names_of(target: str, text: str) -> list[str]:
    """The licences that an address names; without an address, those that the text names."""
    if target:
        name = licence_of_url(target)
        return [name] if name else licences_in(target) or [OTHER]
    return licences_in(text)


def note_picture(source: str, names: list[str], url: str, pictures: dict[str, str]) -> None:
    """Add the licences of the picture at an address, which may be relative to the page's `url`, to what is known."""
    absolute = join_url(url, source)
    known = [name for name in names if name != OTHER]
    if absolute is not None and known and len(pictures) < MAX_PICTURES:
        before = [pictures[absolute]] if absolute in pictures else []
        pictures[absolute] = strictest([*before, *known])


def stored(target: str) -> str | None:
    """An address as it is stored; None for an empty one."""
    text = target.strip()[:MAX_URL]
    return text or None
