"""The types of schema.org that are not the page."""

from __future__ import annotations

from typing import Any

# schema.org types that are a part of a page, or beside it, rather than the page.
PARTS = frozenset(
    "imageobject videoobject audioobject mediaobject photograph painting visualartwork map comment review person "
    "organization softwareapplication softwaresourcecode musicrecording product offer imagegallery3d "
    "datadownload website".split()
)
# Properties by which a work refers to others.
OTHER_WORKS = frozenset(
    "about associatedmedia citation exampleofwork haspart isbasedon isbasedonurl ispartof isrelatedto issimilarto "
    "itemlistelement mentions relatedlink translationofwork workexample worktranslation".split()
)
PICTURES = frozenset({"imageobject", "photograph", "visualartwork", "painting"})


def type_name(value: Any) -> str:
    """The last part of a type's address, in lower case: imageobject of https://schema.org/ImageObject."""
    return value.rstrip("/").rpartition("/")[2].rpartition(":")[2].lower() if isinstance(value, str) else ""
