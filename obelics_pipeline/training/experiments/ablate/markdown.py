"""An account as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.core.html.visible import quoted
from obelics_pipeline.training.experiments.ablate.account import OF_FAILED, Account
from obelics_pipeline.training.experiments.ablate.show import ASTERISK, arm_rows, difference_rows, shown


def markdown(account: Account) -> str:
    """The text. What the seeds could show stands before what they have shown."""
    return "\n".join(_lines(account)) + "\n"


def _lines(account: Account) -> Iterator[str]:
    yield from (f"# {quoted(account.title)}", "", f"**{account.warning}**", "", account.method)
    for noun, told in (("Failed", account.failed), ("To come", dict.fromkeys(account.waiting, "not trained yet"))):
        if told:
            yield from ("", f"## {noun}", "", *(f"- {quoted(name)}: {quoted(why, 400)}" for name, why in told.items()))
    if account.failed:
        yield from ("", OF_FAILED)
    yield from ("", "## What these seeds can show", "")
    yield from (f"- {quoted(account.least_text(one), 400)}" for one in account.least)
    if not account.least:
        yield "Nothing yet: no arm beside the first has a seed in common with it."
    if account.restarts:
        yield from ("", "## What a restart changes", "", *(f"- {quoted(line, 400)}" for line in account.restarts))
    yield from ("", "## What they have shown", "", *(f"- {quoted(line, 400)}" for line in shown(account)))
    yield from ("", f"## Differences from {quoted(account.experiment.first)}", "", ASTERISK, "")
    yield from _table(difference_rows(account))
    yield from ("", "## Arms", "", *(f"- {quoted(arm.name)}: {quoted(arm.differs, 400)}" for arm in account.arms), "")
    yield from _table(arm_rows(account))


def _table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    head = next(rows)
    yield from (f"| {' | '.join(map(quoted, head))} |", "|---" * len(head) + "|")
    yield from (f"| {' | '.join(quoted(cell, 400) for cell in row)} |" for row in rows)
