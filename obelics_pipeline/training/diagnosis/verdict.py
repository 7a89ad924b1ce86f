"""The likely cause of a loss spike: bad data, bad hardware, numerics, or unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from obelics_pipeline.training.diagnosis.signals import Lead
from obelics_pipeline.training.train.guard.verdict import Verdict as Judged

Cause = Literal["data", "hardware", "numerics", "unknown"]
GUILTY = 8.0  # suspicion from which a document is unlike all that is ordinary
LEAD = 2  # steps by which something inside of the model must have come before the loss
UNTRAINED = 0.05  # of ln(words): a model that is as near to knowing nothing tells no document from another


@dataclass(frozen=True)
class Verdict:
    """A cause and what speaks for it, the strongest first."""

    cause: Cause
    evidence: Sequence[str]


def verdict_of(best: float, dataset: str | None, leads: Sequence[Lead], judged: Judged, untrained: bool) -> Verdict:
    """The verdict from the suspicion of the first suspect and its data set, what left its range when, and the metrics.

    `judged` is what the metrics alone say. An event of the hardware goes before everything: it makes any number wrong.
    A document that is unlike all others goes before what the model did, for it would have made that.
    """
    inside = [lead for lead in leads if lead.name.startswith(("activations", "log_z")) and lead.before >= LEAD]
    infinite = [lead for lead in leads if math.isinf(lead.farthest)]
    guilty = best >= GUILTY and not untrained
    document = [f"a document of {dataset} is {best:.1f} spreads from what is to be expected of it"] if guilty else []
    early = [
        f"{lead.name} is no finite number at step {lead.step}"
        if lead in infinite
        else f"{lead.name} left its range {lead.before} steps before the loss"
        for lead in [*infinite, *(lead for lead in inside if lead not in infinite)]
    ]
    evidence: dict[Cause, list[str]] = {
        "hardware": list(judged.evidence.get("hardware", ())),
        "data": [*document, *judged.evidence.get("data", ())],
        "numerics": [*early[:3], *judged.evidence.get("numerics", ())],
    }
    cause = judged.kind
    if cause != "hardware" and document:
        cause = "data"
    elif cause == "unknown" and early:
        cause = "numerics"
    ordered = sorted(evidence, key=lambda name: name != cause)  # stable: that of the verdict first
    told = [f"{name}: {line}" for name in ordered for line in evidence[name][:3]]
    return Verdict(cause, told or ["no document, no module and no machine stands out"])


def is_untrained(loss: float, words: int | None) -> bool:
    """Whether a loss is that of a model that knows nothing of which word follows."""
    return bool(words) and loss > (1 - UNTRAINED) * math.log(words or 1)
