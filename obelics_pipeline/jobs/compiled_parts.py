"""Which of the parts that are written in C run as their slow twins in Python here, why, and how to mend it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from obelics_pipeline.core.minhash import signature
from obelics_pipeline.filters import statistics
from obelics_pipeline.models import forest, word_index
from obelics_pipeline.models.chat_detector import word_habits
from obelics_pipeline.models.coherence_detector import comparison, reading
from obelics_pipeline.models.farm_detector import counts, heads, network, sentences, tokens
from obelics_pipeline.models.wording_detector import reading as wording_reading
from obelics_pipeline.models.wording_detector import shares
from obelics_pipeline.stages.extract import addresses, main_features, outline, parse_cost, simplify, tree
from obelics_pipeline.stages.extract.rebuild import survey

PARTS: dict[str, ModuleType] = {  # the extension -> the package that chooses between it and its twin, and says COMPILED
    "obelics_pipeline.stages.extract._simplify": simplify,
    "obelics_pipeline.stages.extract.rebuild._survey": survey,
    "obelics_pipeline.stages.extract._main_features": main_features,
    "obelics_pipeline.stages.extract._tree": tree,
    "obelics_pipeline.stages.extract._addresses": addresses,
    "obelics_pipeline.stages.extract._outline": outline,
    "obelics_pipeline.stages.extract._tag_scan": parse_cost,
    "obelics_pipeline.core.minhash._minhash": signature,
    "obelics_pipeline.filters._statistics": statistics,
    "obelics_pipeline.models._forest": forest,
    "obelics_pipeline.models._word_index": word_index,
    "obelics_pipeline.models.chat_detector._word_habits": word_habits,
    "obelics_pipeline.models.coherence_detector._comparison": comparison,
    "obelics_pipeline.models.coherence_detector._reading": reading,
    "obelics_pipeline.models.farm_detector._counts": counts,
    "obelics_pipeline.models.farm_detector._heads": heads,
    "obelics_pipeline.models.farm_detector._network": network,
    "obelics_pipeline.models.farm_detector._sentences": sentences,
    "obelics_pipeline.models.farm_detector._tokens": tokens,
    "obelics_pipeline.models.wording_detector._parts": shares,
    "obelics_pipeline.models.wording_detector._reading": wording_reading,
}
REBUILD = "install obelics-pipeline again where there is a C compiler"


def slow_parts() -> list[str]:
    """A line for each cause that parts are slow by; none where all are compiled. Results are the same either way."""
    by_cause: dict[str, list[str]] = {}
    for name, package in PARTS.items():
        if not package.COMPILED:
            by_cause.setdefault(_cause(name), []).append(name)
    return [f"slow, in Python instead of C: {', '.join(names)}: {cause}" for cause, names in by_cause.items()]


def _cause(name: str) -> str:
    if PARTS[name] in (simplify, survey) and not simplify.is_tested(simplify.SELECTOLAX):
        known = ", ".join(f"{version}.x" for version in simplify.TESTED)
        return (
            f"selectolax {simplify.SELECTOLAX} is installed, and the compiled walk knows {known} alone; "
            f"pip install 'selectolax=={simplify.TESTED[-1]}.*'"
        )
    try:
        import_module(name)
    except ModuleNotFoundError:
        return f"not built; {REBUILD}"
    except (ImportError, OSError) as error:
        return f"it cannot be loaded ({error}); {REBUILD}"
    return f"it does not find its functions in selectolax {simplify.SELECTOLAX}; {REBUILD}"
