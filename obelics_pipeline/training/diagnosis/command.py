"""`obelics explain-spike`: explains a step of a training run, and writes the ids that a plan should leave out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.training.diagnosis.lines import lines_of
from obelics_pipeline.training.diagnosis.loss_diagnosis import LossDiagnosis, explain_spike, guilty_of
from obelics_pipeline.training.diagnosis.page import page
from obelics_pipeline.training.diagnosis.training_run import TrainingRun


def explain(
    run: Path,
    step: int,
    window: int = 50,
    top: int = 10,
    attempt: int | None = None,
    html: Path | None = None,
    without: Path | None = None,
    replay: bool | None = None,
) -> Iterator[str]:
    """Explain a step, and write the files that are asked for; the lines for a person. Raises UserError."""
    diagnosis = explain_spike(TrainingRun(run), step, window, top, attempt, html is not None, replay)
    yield from lines_of(diagnosis)
    if html is not None:
        _write(html, page(diagnosis), "--html")
        yield f"wrote {html}"
    if without is not None:
        _write(without, without_text(diagnosis), "--without")
        count = f"{len(guilty_of(diagnosis.suspects))} of {len(diagnosis.suspects)} suspects"
        yield (
            f"wrote {without}: {count}; take out those that you want to keep, then "
            f"plan without the others: obelics plan RECIPE.yaml --without {shlex.quote(str(without))} --output NEW_PLAN"
        )


def without_text(diagnosis: LossDiagnosis) -> str:
    """A document id a line, the most suspicious first; ordinary documents are not among them."""
    return "".join(f"{one.document.doc_id}\n" for one in guilty_of(diagnosis.suspects))


def _write(path: Path, text: str, option: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, text.encode())
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written: {error.strerror}; give another file") from None
