"""Whether hash lists, the report of their matches and the functions that a config names are here."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.check.finding import Finding
from obelics_pipeline.policy.image_safety.known_abuse import prepare
from obelics_pipeline.policy.image_safety.report import check_report, hook

ABOUT = "image safety"


def image_safety_findings(config: RunConfig, output: Location | None) -> Iterator[Finding]:
    """Nothing where nothing is named, or no image is fetched. Lists are made ready, as a run would."""
    safety = config.image_safety
    if not config.fetch.enabled or (safety.faces is None and not safety.known_abuse.lists):
        return
    try:
        if safety.faces is not None:
            hook(safety.faces, "image_safety.faces")
        check_report(safety.report, output)
        prepare(safety.known_abuse)
    except UserError as error:
        yield Finding(ABOUT, "missing", str(error))
        return
    lists = len(safety.known_abuse.lists)
    yield Finding(ABOUT, "ok", f"{lists} hash lists and all named functions were found")
    if lists and not (safety.report.file or safety.report.hook):
        yield Finding(ABOUT, "warning", "matches are reported to nobody: set image_safety.report.file or .hook")
