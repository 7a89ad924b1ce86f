"""Checks that a built site can be read without a network: `python docs/offline.py build/site`.

No page, style or script may load anything from elsewhere. Links that a reader follows may lead there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|srcset|data)=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon|modulepreload))[^>]*\bhref=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|(?:@import\s+["']?|url\(\s*["']?)(?:https?:)?//[^"')\s]+""",
    re.IGNORECASE,
)


def loaded_from_elsewhere(site: Path) -> list[str]:
    """`FILE: MARKUP` for each thing that a page or a style of the site loads over the network."""
    files = sorted(path for path in site.rglob("*") if path.suffix in (".html", ".css"))
    return [
        f"{path.relative_to(site)}: {found[0]}"
        for path in files
        for found in LOADED.finditer(path.read_text("utf-8", errors="replace"))
    ]


if __name__ == "__main__":
    problems = loaded_from_elsewhere(Path(sys.argv[1]))
    for problem in problems:
        print(f"loads from the network: {problem}", file=sys.stderr)
    sys.exit(bool(problems))
