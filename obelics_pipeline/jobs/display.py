"""The display of a run: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.redacted import redacted

PLAIN_SECONDS = 10.0  # between two lines where there is no terminal
REASONS_SHOWN = 8


class Display:
    """Progress of the stages and the ledgers so far. Use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TextColumn("units"),
            TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(), console=console,
        )  # fmt: skip
        self._ledgers: dict[str, dict[str, Ledger]] = {}  # noun -> stage -> ledger
        self._stage, self._task, self._done, self._total = "", TaskID(0), 0, 0
        self._step = False  # the stage at hand is a step within another
        self._began = self._last_line = time.monotonic()
        self._fresh: Counter[str] = Counter()  # what this stage has done in this run: the rate counts no resumed work
        self._live = Live(get_renderable=self._render, console=console, refresh_per_second=4, transient=False)

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def begin_again(self) -> None:
        """The stages begin again: what was counted so far will be counted once more."""
        self._ledgers.clear()

    def stage(self, name: str, total: int, done: int, step: bool = False) -> None:
        """A stage begins: so many units, so many of them committed by an earlier run.

        A `step` within a stage is shown while it lasts, and is worth a line only where that is long.
        """
        if self._step and self._console.is_terminal:
            self._progress.update(self._task, visible=False)
        self._step = step
        self._stage, self._done, self._total = name, done, total
        self._began, self._fresh = time.monotonic(), Counter()
        self._task = self._progress.add_task(name, total=total, completed=done)
        if not self._console.is_terminal and total > done and not step:
            resumed = f" ({done} done earlier)" if done else ""
            self._console.print(f"{name}: {counted(total, 'units')}{resumed}", highlight=False)

    def count(self, ledgers: Iterable[Ledger], fresh: bool) -> None:
        """Ledgers of a unit, done now or by an earlier run."""
        for ledger in ledgers:
            by_stage = self._ledgers.setdefault(ledger.noun, {})
            by_stage.setdefault(self._stage, Ledger(ledger.noun)).add(ledger)
            if fresh:
                pages = ledger.noun == "records"  # most records are requests and metadata: nobody waits for those
                self._fresh["pages" if pages else ledger.noun] += ledger.kept if pages else ledger.entered

    def unit_done(self) -> None:
        """One more unit of the stage is done."""
        self._done += 1
        self._progress.update(self._task, completed=self._done)
        now = time.monotonic()
        due = now - self._last_line > PLAIN_SECONDS or (self._done == self._total and not self._step)
        if not self._console.is_terminal and due:
            self._last_line = now
            self._console.print(self._line(), highlight=False, soft_wrap=True)

    def say(self, line: str) -> None:
        """A line that stays, without the passwords and signatures of URLs in it."""
        self._console.print(redacted(line), highlight=False, soft_wrap=True, markup=False)

    def agrees(self, question: str) -> bool | None:
        """Ask a person a yes-or-no question; returns the answer, or None without a terminal."""
        if not (self._console.is_terminal and sys.stdin.isatty()):
            return None
        self._live.stop()
        try:
            self._console.print(f"{redacted(question)} [y/N] ", end="", markup=False, highlight=False, soft_wrap=True)
            return sys.stdin.readline().strip().lower() in ("y", "yes")
        finally:
            self._live.start()

    def _so_far(self) -> dict[str, Ledger]:
        """One ledger per noun: what a stage kept enters the next one, and is counted once."""
        merged = {}
        for noun, by_stage in self._ledgers.items():
            first, *later = by_stage.values()
            merged[noun] = Ledger(noun, first.entered, first.kept, first.dropped.copy(), first.failed.copy())
            for ledger in later:
                merged[noun].kept = ledger.kept
                merged[noun].dropped.update(ledger.dropped)
                merged[noun].failed.update(ledger.failed)
        return merged

    def _rate(self) -> str:
        seconds = max(time.monotonic() - self._began, 1e-6)
        return ", ".join(f"{n / seconds:,.0f} {noun}/s" for noun, n in self._fresh.items())

    def _line(self) -> str:
        kept = ", ".join(counted(ledger.kept, noun) for noun, ledger in self._so_far().items())
        eta = ""
        if 0 < self._done < self._total:
            seconds = (time.monotonic() - self._began) / self._done * (self._total - self._done)
            eta = f"ETA {seconds:,.0f} s"
        parts = (
            f"{self._stage}: {self._done}/{counted(self._total, 'units')}",
            f"kept {kept}" if kept else "",
            self._rate(),
            eta,
        )
        return " · ".join(part for part in parts if part)

    def _render(self) -> Group:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("", "in", "kept", "dropped", "failed", "reasons so far"):
            table.add_column(title, justify="left" if title in ("", "reasons so far") else "right")
        for noun, ledger in self._so_far().items():
            reasons = (ledger.dropped + ledger.failed).most_common(REASONS_SHOWN)
            shown = ", ".join(f"{reason} {n:,}" for reason, n in reasons)
            numbers = (ledger.entered, ledger.kept, ledger.dropped.total(), ledger.failed.total())
            table.add_row(noun, *(f"{n:,}" for n in numbers), shown)
        return Group(self._progress, self._rate(), table)
