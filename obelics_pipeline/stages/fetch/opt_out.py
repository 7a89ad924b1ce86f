"""X-Robots-Tag: whether a site forbids this use of an image, to us or to all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from obelics_pipeline.stages.fetch.reason import OPT_OUT_SUFFIX

# Rules whose value follows a colon (Google's robots meta specification): what precedes it is not a crawler's name.
_RULES_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"[\w.*-]+")
_IMPLIED = {"none": ("noindex", "nofollow"), "all": ()}  # same source: "none" is short for both


def opt_out_reason(headers: Iterable[str], token: str, directives: Sequence[str]) -> str | None:
    """The reason to drop an image by its X-Robots-Tag headers, or None.

    `headers` are the values as received, one per header line; `token` is our name. A crawler's name applies to the
    rules behind it, up to the next name: `otherbot: noai` does not concern us, `noai, otherbot: noindex` does.
    The first of `directives` that is present, in the config's order, names the reason: noai gives noai_header.
    """
    present = {rule for header in headers for rule in _rules_for(header, token.lower())}
    for directive in directives:
        if directive.strip().lower() in present:
            return re.sub(r"\W+", "_", directive.strip().lower()) + OPT_OUT_SUFFIX
    return None


def _rules_for(header: str, token: str) -> Iterable[str]:
    concerned = True
    for part in header.lower().split(","):
        name, colon, rest = part.strip().partition(":")
        if colon and name not in _RULES_WITH_VALUE and _AGENT.fullmatch(name.strip()):
            concerned = name.strip() in (token, "*")
            rule = rest.strip()
        else:
            rule = part.strip()
        if concerned:
            yield from _IMPLIED.get(rule, (rule,))
