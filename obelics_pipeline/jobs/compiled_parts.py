"""Which of the parts that are written in C run as their slow twins in Python here, why, and how to mend it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from obelics_pipeline.core.minhash import signature
from obelics_pipeline.filters import statistics
from obelics_pipeline.models import forest
from obelics_pipeline.stages.extract import main_features, parse_cost, simplify

PARTS: dict[str, ModuleType] = {  # the extension -> the package that chooses between it and its twin, and says COMPILED
    "obelics_pipeline.stages.extract._simplify": simplify,
    "obelics_pipeline.stages.extract._main_features": main_features,
    "obelics_pipeline.stages.extract._tag_scan": parse_cost,
    "obelics_pipeline.core.minhash._minhash": signature,
    "obelics_pipeline.filters._statistics": statistics,
    "obelics_pipeline.models._forest": forest,
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
    if PARTS[name] is simplify and not simplify.is_tested(simplify.SELECTOLAX):
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
