"""A few trusted texts: the project's own documentation, a text for each of its sections."""

from functools import cache
from pathlib import Path

from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

DOCS = Path(__file__).parents[3] / "docs"

THESAURUS = """UTF-8
boat|2
(noun)|ship|vessel (generic term)
(verb)|sail|sail over
take over|1
(verb)|assume
say|1
(verb)|state|tell|opine (similar term)
old|1
(adj)|aged|elderly
"""


@cache
def texts() -> tuple[str, ...]:
    found = [part for path in sorted(DOCS.glob("*.md")) for part in path.read_text("utf-8").split("\n## ")]
    return tuple(text for text in found if len(text.split()) > 100)


@cache
def trusted() -> TrustedTexts:
    return TrustedTexts(texts())
