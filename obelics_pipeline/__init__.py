"""From a WARC record to a training shard of interleaved image-text documents, and back.

What is listed in `__all__` is the public API: docs/api.md. Each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obelics_pipeline import filters
    from obelics_pipeline.core.config.run import load_config
    from obelics_pipeline.core.document import Document
    from obelics_pipeline.core.errors import UserError
    from obelics_pipeline.filters.own import filter
    from obelics_pipeline.jobs.finished import Run
    from obelics_pipeline.jobs.main_job import run
    from obelics_pipeline.jobs.score_rows.command import score
    from obelics_pipeline.stages.document_stage import document_stage
    from obelics_pipeline.stages.extract.single_page import PageRefused, extract, measure
    from obelics_pipeline.stages.read.warc_pages import read_warc
    from obelics_pipeline.stages.stage import Stage

__version__ = "0.1.0"

__all__ = [
    "Document",
    "PageRefused",
    "Run",
    "Stage",
    "UserError",
    "document_stage",
    "extract",
    "filter",
    "filters",
    "load_config",
    "measure",
    "read_warc",
    "run",
    "score",
]

_MODULES = {  # of the names above; the same as the imports for type checkers
    "Document": "core.document",
    "PageRefused": "stages.extract.single_page",
    "Run": "jobs.finished",
    "Stage": "stages.stage",
    "UserError": "core.errors",
    "document_stage": "stages.document_stage",
    "extract": "stages.extract.single_page",
    "filter": "filters.own",
    "load_config": "core.config.run",
    "measure": "stages.extract.single_page",
    "read_warc": "stages.read.warc_pages",
    "run": "jobs.main_job",
    "score": "jobs.score_rows.command",
}


def __getattr__(name: str) -> Any:
    """A public name, imported now (PEP 562)."""
    if name == "filters":
        return import_module("obelics_pipeline.filters")
    if name not in _MODULES:
        raise AttributeError(f"module 'obelics_pipeline' has no attribute {name!r}; see obelics_pipeline.__all__")
    found = getattr(import_module(f"obelics_pipeline.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
