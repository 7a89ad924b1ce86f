"""`obelics map`: makes the map of a run, and says what is on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import location
from obelics_pipeline.inspect.map.make import Advance, Made, make_map

SHOWN = 12  # labels, of the largest cells
STEPS = ("words", "vectors", "neighbours", "layout")

Say = Callable[[str], None]


def map_run(folder: str, at_most: int, threads: int, say: Say) -> int:
    """Make the map of the run in a folder, and say what it shows; returns the exit code.

    Raises UserError for what a person can mend.
    """
    run = RunFolder(location(folder))
    with _progress() as advance:
        made = make_map(run, at_most, threads, advance)
    for line in lines_of(made):
        say(line)
    say(f"{'wrote' if made.fresh else 'was there already, of the same documents:'} {run.map}")
    return 0


def lines_of(made: Made) -> list[str]:
    """The lines that are printed about a map."""
    points, labels = made.map.points, made.map.labels.to_pylist()
    wordless = points["x"].null_count
    lines = [f"{len(points):,} of {made.of:,} documents in {len(labels):,} cells; {wordless:,} have no words"]
    labels.sort(key=lambda row: (-row["documents"], row["cell"]))
    lines += [f"{row['documents']:8,}  {' '.join(row['words']) or '(no words of its own)'}" for row in labels[:SHOWN]]
    if len(labels) > SHOWN:
        lines.append(f"and {len(labels) - SHOWN:,} smaller cells")
    return lines


@contextmanager
def _progress() -> Iterator[Advance]:
    """A bar for each step on a terminal; elsewhere a line as it begins."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<10}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
        TextColumn("ETA"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        tasks = {name: progress.add_task(name, total=None, start=False, visible=False) for name in STEPS}
        begun: set[str] = set()

        def advance(step: str, done: int, total: int) -> None:
            if step not in begun:
                begun.add(step)
                progress.start_task(tasks[step])
                if not console.is_terminal:
                    console.print(f"{step}: {total:,}", highlight=False)
            progress.update(tasks[step], completed=done, total=total, visible=True)

        yield advance
