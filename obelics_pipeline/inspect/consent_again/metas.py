"""What the metas of a page's head say against its use."""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.policy.opt_outs.tdm import POLICY, RESERVATION, page_tdm

DIRECTIVES = ("noai", "noimageai")


def page_refusal(head: bytes, headers: Sequence[tuple[str, str]]) -> str | None:
    """The reason why a page may not be used, by the first bytes of its HTML and by its TDM headers; None: it may."""
    robots: set[str] = set()
    tdm: dict[str, str] = {}
    for meta in LexborHTMLParser(head.decode("utf-8", "replace")).css("meta[name]"):
        name, content = (str(meta.attributes.get(key) or "") for key in ("name", "content"))
        name = name.strip().lower()
        if name == "robots":
            robots.update(part.strip() for part in content.lower().split(","))
        elif name in (RESERVATION, POLICY):
            tdm.setdefault(name, content)
    if found := next((directive for directive in DIRECTIVES if directive in robots), None):
        return f"{found}_meta"
    return "tdm_reserved" if page_tdm(tdm, headers).reserved else None
