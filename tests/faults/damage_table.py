"""What becomes of a run of which one file is damaged, as a table: `python -m tests.faults.damage_table`.

Each kind of file that a run writes is deleted, cut, zeroed, or has one bit flipped, in a finished run and in one that
stopped before it read the file. Then the run's command is given again. A cell says what came of it:

same      exit 0, the shards of an undisturbed run, and no damaged file for `validate --deep`
named     another exit code, and a line that names the file
repaired  exit 0 and the same shards; the file, which nothing had to read, is still damaged or missing. `validate
          --deep` names it, and after `--repair` and the command nothing is damaged
WRONG     anything else
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.jobs.damage import survey
from obelics_pipeline.jobs.deep_validation import repair
from tests.faults.damaged_run import (
    Damage,
    World,
    a_world,
    cut,
    delete,
    flip,
    kinds,
    outcome,
    stop_before_it_is_read,
    zeros,
)
from tests.faults.runs import published

NOT_THE_RUNS = {"events.jsonl", ".lock", ".workers"}  # a log and two locks
DAMAGES: dict[str, Damage] = {"deleted": delete, "cut": cut, "zeroed": zeros, "one bit": flip}
STATES = ("finished", "half done")


def cell(world: World, finished: Path, work: Path, name: str, kind: str, damage: Damage, half: bool) -> str:
    """What comes of one damaged file."""
    output = shutil.copytree(finished, work / "run")
    try:
        if half:
            stop_before_it_is_read(output, kind)
        if not (output / name).exists():
            return "-"
        damage(output / name)
        return _verdict(world, finished, output, name)
    finally:
        shutil.rmtree(output)


def _verdict(world: World, finished: Path, output: Path, name: str) -> str:
    expected = published(finished)
    code, said = outcome(world, output)
    if code:
        return "named" if Path(name).name in said else f"WRONG: exit {code}, {said[-200:]}"
    if published(output) != expected:
        return "WRONG: other shards"
    if not survey(RunFolder(output)).damaged:
        return "same"
    repair(output)
    code, said = outcome(world, output)
    left = survey(RunFolder(output)).damaged
    whole = code == 0 and not left and published(output) == expected
    return "repaired" if whole else f"WRONG: after --repair exit {code}, {dict(left)}, {said[-200:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="kinds of file whose name holds this")
    only = parser.parse_args().only
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, a_world(Path(folder)) as world:
        finished = Path(folder) / "finished"
        with contextlib.redirect_stdout(io.StringIO()):
            world.run(finished)
        print(f"{'':46} " + "  ".join(f"{state}, {how:8}" for state in STATES for how in DAMAGES))
        for kind, path in kinds(finished, NOT_THE_RUNS).items():
            if only not in kind:
                continue
            name = str(path.relative_to(finished))
            cells = []
            for state in STATES:
                for damage in DAMAGES.values():
                    with contextlib.redirect_stdout(io.StringIO()):
                        cells.append(cell(world, finished, Path(folder), name, kind, damage, state == STATES[1]))
            counts.update(verdict.partition(":")[0] for verdict in cells)
            print(f"{kind:46} " + "  ".join(f"{verdict.partition(':')[0]:18}" for verdict in cells), flush=True)
            for verdict in cells:
                if verdict.startswith("WRONG"):
                    print(f"    {verdict}")
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
