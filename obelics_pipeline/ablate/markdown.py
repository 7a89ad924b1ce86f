"""An account as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.ablate.account import OF_FAILED, Account
from obelics_pipeline.ablate.show import cell, counted, figures_of, with_interval
from obelics_pipeline.spike.chronicle import quoted


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
    if account.missed:
        yield from ("", f"**Not as expected: {quoted(account.missed, 400)}**")
    yield from ("", "## What these seeds can show", "")
    yield from (f"- {quoted(account.least_text(one), 400)}" for one in account.least)
    if not account.least:
        yield "Nothing yet: no arm beside the first has a seed in common with it."
    if account.restarts:
        yield from ("", "## What a restart changes", "", *(f"- {quoted(line, 400)}" for line in account.restarts))
    yield from ("", f"## Differences from {quoted(account.experiment.first)}", "")
    yield from ("| arm | figure | difference | least that would show | |", "|---|---|---|---|---|")
    for one in account.compared:
        least = "" if one.difference.least is None else f"{one.difference.least:.3g}"
        what = f"{quoted(one.figure)}{f', {one.unit}' if one.unit else ''}"
        yield f"| {quoted(one.arm)} | {what} | {with_interval(one.difference, True)} | {least} | {quoted(one.says)} |"
    names = [quoted(arm.name) for arm in account.arms]
    yield from ("", "## Arms", "", f"| | {' | '.join(names)} |", "|---|" + "---|" * len(names))
    rows = {
        "differs by": [quoted(arm.differs, 400) for arm in account.arms],
        "seeds": [", ".join(map(str, arm.seeds)) for arm in account.arms],
        "steps": [f"{arm.steps:,}" for arm in account.arms],
        "documents": [quoted(counted(arm.documents)) for arm in account.arms],
        "passes over them": [quoted(counted(arm.passes)) for arm in account.arms],
        "restarts": [f"{arm.restarts}" for arm in account.arms],
        "what the guard did, all seeds": [quoted(counted(arm.actions)) for arm in account.arms],
    }
    rows |= {quoted(name): [cell(arm, name) for arm in account.arms] for name in figures_of(account)}
    yield from (f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())
