"""Text that merely looks like personal data, and is none: it must stay."""

from __future__ import annotations

from benchmarks.planted.safety.forms import data, text
from benchmarks.planted.safety.site import Site


def add_near_misses(site: Site, number: int) -> None:
    """As many, in turn of each class of near.yaml."""
    classes = list(data("near").items())
    for n in range(number):
        name, about = classes[n % len(classes)]
        language = site.random.choice(list(about["said"]))
        frame = site.random.choice(about["said"][language])
        value = text(site.random.choice(about["forms"]), site.random)
        site.say(f"near misses of personal data: {name}", False, frame, value, language=language)
