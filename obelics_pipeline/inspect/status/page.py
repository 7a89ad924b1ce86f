"""The status of a run as one HTML file that loads nothing, in the look of the report."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.inspect.report.page import page
from obelics_pipeline.inspect.report.reasons import words_of
from obelics_pipeline.inspect.status import words
from obelics_pipeline.inspect.status.status import AT_WORK, BAD, Status
from obelics_pipeline.stages.stage import Stage


def status_html(status: Status, known: Sequence[Stage]) -> str:
    """The page; `known` are the stages of the run."""
    return page(
        "status.html",
        words_of(known),
        __package__,
        status=status,
        bad=status.state in BAD,
        fine=status.state == "finished" or status.state in AT_WORK,
        names=words.NAMES,
        state=words.state_line(status),
        about=words.about_line(status),
        ahead=list(words.ahead_lines(status)),
        cost=words.cost_line(status.cost),
        seen=words.moment(status.now),
    )
