"""Why the sentences of a text look as if a program had put them together: those that follow worst."""

from __future__ import annotations

from obelics_pipeline.models.coherence_detector.detector import CoherenceDetector
from obelics_pipeline.models.told import Told

_LONGEST = 120  # characters of a sentence that are quoted


def told(detector: CoherenceDetector, text: str) -> Told:
    """The sentences that follow worst from the one before, the worst first, in rows, and where they stand."""
    spans = detector.spans(text)
    quotes = [" ".join(text[begin:end].split()) for begin, end in spans]
    rows = [
        ("sentence that does not follow", str(place), f"“{quote[:_LONGEST]}”")
        for place, quote in enumerate(quotes, start=1)
    ]
    return Told(rows, spans)
