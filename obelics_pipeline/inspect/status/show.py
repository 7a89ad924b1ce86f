"""The status of a run for a terminal: what is done, what is left, why things were dropped, what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from obelics_pipeline.inspect.report import human
from obelics_pipeline.inspect.status.status import Count, Status
from obelics_pipeline.inspect.status.words import NAMES, about_line, ahead_lines, cost_line, state_line

REASONS_SHOWN = 10
COLORS = {"at work": "green", "finished": "green", "stopped": "yellow", "failing": "red", "failed": "red"}


def shown(status: Status) -> Group:
    """All of it. Texts of the run are text: nothing in them is markup."""
    return Group(*_parts(status))


def _parts(status: Status) -> Iterator[RenderableType]:
    yield Text(status.folder, style="bold", overflow="fold")
    yield Text(state_line(status), style=COLORS[status.state])
    yield Text(about_line(status))
    if status.stages:
        yield Text()
        yield _stages(status)
    for i, line in enumerate(ahead_lines(status)):
        yield Text(line if i else f"\n{line}", style="dim" if i else "bold")
    if status.counts:
        yield Text()
        yield _counts(status)
    if status.failed:
        yield Text()
        yield _failed(status)
    if status.hosts:
        yield Text()
        yield _hosts(status)
    if line := cost_line(status.cost):
        yield Text(f"\ncost so far: {line}")


def _stages(status: Status) -> Table:
    table = _table("stage", "units done", "to do", "failed", "time", "")
    for row in status.stages:
        begun = row.state != "to do"
        table.add_row(
            Text(row.stage),
            f"{row.done:,} of {row.units:,}" if begun and row.units else "",
            f"{row.to_do:,}" if row.to_do else "",
            Text(f"{row.failed:,}", style="red") if row.failed else "",
            human.seconds(row.seconds) if row.seconds is not None else "",
            Text(f"{row.state}{f': {row.at}' if row.at else ''}", style="" if begun else "dim"),
        )
    return table


def _counts(status: Status) -> Table:
    table = _table("", "in", "left", "dropped", "failed")
    table.add_column("largest reasons", ratio=1)
    for count in status.counts:
        numbers = (count.entered, count.left, count.dropped, count.failed)
        table.add_row(Text(NAMES.get(count.noun, count.noun)), *(f"{n:,}" for n in numbers), _reasons(count))
    return table


def _reasons(count: Count) -> Text:
    """Those of all stages together."""
    sums: Counter[tuple[str, bool]] = Counter()
    for reason in count.reasons:
        sums[reason.reason, reason.failed] += reason.count
    text = Text(overflow="fold")
    for i, ((name, failed), n) in enumerate(sums.most_common(REASONS_SHOWN)):
        text.append(", " if i else "")
        text.append(f"{name} {n:,}", style="red" if failed else "")
    return text


def _failed(status: Status) -> Table:
    more = f", the first {len(status.failed)}" if status.failed_units > len(status.failed) else ""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(f"failed units ({status.failed_units:,}{more})", overflow="fold")
    for unit in status.failed:
        line = Text(f"{unit.stage}: {unit.unit}")
        line.append(f"\n  {unit.reason}", style="red")
        table.add_row(line)
    return table


def _hosts(status: Status) -> Table:
    table = _table("slowest hosts of images", "requests", "first to last", "waiting")
    for host in status.hosts:
        times = (human.seconds(host.span_seconds), human.seconds(host.request_seconds))
        table.add_row(Text(host.host, overflow="fold"), f"{host.requests:,}", *times)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for title in others:
        table.add_column(title, justify="right" if title else "left", no_wrap=bool(title))
    return table
