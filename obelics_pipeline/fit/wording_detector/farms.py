"""The documents that the detector learns from: families of farms, and forms that are filled in."""

from __future__ import annotations

from random import Random

from obelics_pipeline.fit.farm_detector.families import Families, Made
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts
from obelics_pipeline.fit.farm_detector.unusual import laid_out
from obelics_pipeline.fit.wording_detector.forms import filled_in

FORMS = "forms"
SHARE = 0.15  # of the generated documents


class Farms:
    """Makes documents, honest and generated."""

    def __init__(self, families: Families, trusted: TrustedTexts) -> None:
        self._families, self._trusted = families, trusted

    def honest(self, random: Random) -> Made:
        """A passage that somebody wrote."""
        return self._families.honest(random)

    def generated(self, random: Random) -> Made:
        """A document of one of the families, or a form."""
        if random.random() < SHARE:
            return Made(FORMS, laid_out(filled_in(self._trusted, random), random))
        return self._families.generated(random)
