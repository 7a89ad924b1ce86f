"""Values laid over others: what an arm says over what all arms have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obelics_pipeline.core.errors import UserError


def laid_over(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The base with other values: sections key by key, anything else as a whole. `a.b` is `b` in the section `a`."""
    out = dict(base)
    for key, value in over.items():
        name, _, rest = str(key).partition(".")
        inner = {rest: value} if rest else value
        if isinstance(inner, Mapping) and isinstance(out.get(name, {}), Mapping):
            out[name] = laid_over(out.get(name) or {}, inner)
        else:
            out[name] = inner
    return out


def refuse_fixed(over: Mapping[str, Any], fixed: Mapping[str, str], where: str) -> None:
    """Raises UserError for a key that is not an arm's to say. `fixed`: why, by key."""
    for key in over:
        if (why := fixed.get(str(key))) is not None:
            raise UserError(f"{where}.{key}: {why}; leave it out")
