"""The result of an experiment as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.core.html.visible import quoted
from obelics_pipeline.training.experiments.ablate.result import OF_FAILED, AblationResult
from obelics_pipeline.training.experiments.ablate.show import ASTERISK, arm_rows, difference_rows, shown


def markdown(result: AblationResult) -> str:
    """The result as Markdown. What the seeds can show comes before what they showed."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: AblationResult) -> Iterator[str]:
    yield from (f"# {quoted(result.title)}", "", f"**{result.warning}**", "", result.method)
    for noun, told in (("Failed", result.failed), ("To come", dict.fromkeys(result.waiting, "not trained yet"))):
        if told:
            yield from ("", f"## {noun}", "", *(f"- {quoted(name)}: {quoted(why, 400)}" for name, why in told.items()))
    if result.failed:
        yield from ("", OF_FAILED)
    yield from ("", "## What these seeds can show", "")
    yield from (f"- {quoted(result.least_text(one), 400)}" for one in result.least)
    if not result.least:
        yield "Nothing yet: no arm beside the first has a seed in common with it."
    if result.restarts:
        yield from ("", "## What a restart changes", "", *(f"- {quoted(line, 400)}" for line in result.restarts))
    yield from ("", "## What they have shown", "", *(f"- {quoted(line, 400)}" for line in shown(result)))
    yield from ("", f"## Differences from {quoted(result.experiment.first)}", "", ASTERISK, "")
    yield from _table(difference_rows(result))
    yield from ("", "## Arms", "", *(f"- {quoted(arm.name)}: {quoted(arm.differs, 400)}" for arm in result.arms), "")
    yield from _table(arm_rows(result))


def _table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    head = next(rows)
    yield from (f"| {' | '.join(map(quoted, head))} |", "|---" * len(head) + "|")
    yield from (f"| {' | '.join(quoted(cell, 400) for cell in row)} |" for row in rows)
