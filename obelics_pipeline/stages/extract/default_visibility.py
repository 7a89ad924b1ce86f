"""Which elements a reader does not see, as far as attributes tell."""

from __future__ import annotations

from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.image_source import Attributes
from obelics_pipeline.stages.extract.tags import by_id

_PAGE = frozenset(by_id({True: rules.SHOWN_TAGS}))
_DECORATIVE = frozenset(by_id({True: rules.DECORATIVE_TAGS}))


def is_hidden(attributes: Attributes, tag: int) -> bool:
    """Whether an element is hidden, decorative, not displayed, or has a role that is not content."""
    if tag in _PAGE:
        return False
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    if attributes.get("aria-hidden") == "true" and tag in _DECORATIVE:
        return True
    style = attributes.get("style")
    if style and "none" in style and "display:none" in style.replace(" ", "").lower():
        return True
    return (attributes.get("role") or "").strip().lower() in rules.DROPPED_ROLES
