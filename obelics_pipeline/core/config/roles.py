"""The roles of text nodes, where a config names some of them."""

from typing import Annotated

from pydantic import AfterValidator

from obelics_pipeline.core.document import TEXT_ROLES


def _known(roles: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a role that no node has: what it is for would silently never happen."""
    unknown = set(roles) - set(TEXT_ROLES)
    if unknown:
        raise ValueError(f"unknown role {min(unknown)}; valid roles: {', '.join(TEXT_ROLES)}")
    return roles


Roles = Annotated[tuple[str, ...], AfterValidator(_known)]
