"""`obelics inspect`: what a run or a checkpoint holds, in lines; nothing is changed, and no tensor is opened."""

from __future__ import annotations

from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.journal import METRICS, read_journal
from obelics_pipeline.training.train.state.head import head_of
from obelics_pipeline.training.train.state.interventions import described
from obelics_pipeline.training.train.state.kept import FOLDER, checkpoints
from obelics_pipeline.training.train.state.ledger import NAME as LEDGER
from obelics_pipeline.training.train.state.ledger import active, read_ledger
from obelics_pipeline.training.train.state.lineage import Lineage
from obelics_pipeline.training.train.state.manifest import read_manifest
from obelics_pipeline.training.train.state.saved import STATE, config_sha256, read_state


def inspect(location: Path) -> list[str]:
    """Lines about the folder of a run or of a checkpoint. Raises `UserError` where it is neither.

    Whether a checkpoint's files are as they were written, `manifest.verify` says.
    """
    if (location / STATE).exists():
        return _checkpoint(location)
    if (location / LEDGER).exists():
        return _run(location)
    raise UserError(f"{location}: neither a run ({LEDGER}) nor a checkpoint ({STATE}); give the folder of one")


def _checkpoint(path: Path) -> list[str]:
    state, files = read_state(path), read_manifest(path)
    hyper = ", ".join(f"{key} {value}" for key, value in state.hyper.items() if value is not None)
    lines = [
        f"step            {state.step}",
        f"attempt         {state.attempt}",
        f"learning rate   {state.lr:.6g}",
        f"weight decay    {'-' if state.weight_decay is None else format(state.weight_decay, '.6g')}",
        f"optimiser step  {state.optimiser_steps} ({state.skipped_updates} updates skipped)",
        f"cursor          {state.cursor}",
        f"plan            {state.plan_id}",
        f"seed            {state.seed}",
        f"config          {config_sha256(state.config)[:12]}",
        f"optimiser       {hyper}",
        f"parameters      {len(state.tensors)}, {state.parameters_fingerprint[:12]}",
        f"moments         {', '.join(state.moments) or 'none'}, {state.moments_fingerprint[:12]}",
        f"processes       {state.world_size}",
        f"versions        {', '.join(f'{name} {version}' for name, version in state.versions.items())}",
    ]
    if state.late:
        lines.append(f"fewer updates   {', '.join(f'{name} {count}' for name, count in state.late.items())}")
    return lines + [f"file            {entry['bytes']:>12,}  {name}" for name, entry in sorted(files.items())]


def _run(run: Path) -> list[str]:
    ledger = read_ledger(run)
    head, lineage = head_of(run, ledger.entries), Lineage(ledger.entries)
    done = [(int(line["attempt"]), int(line["step"])) for line in read_journal(run / METRICS)]
    rate = (head.metrics or {}).get("lr")
    changes = active(ledger.entries, head.step + 1)
    lines = [
        f"step            {head.step}",
        f"attempt         {head.attempt}",
        f"learning rate   {'-' if rate is None else format(rate, '.6g')}",
        f"cursor          {head.cursor}",
        f"steps made      {len(done)}, {lineage.wasted(done)} of them rolled back",
        f"ledger          {len(ledger.entries)} entries",
    ]
    if ledger.half is not None:
        lines.append(f"ledger          its last line is half written, and skipped: {ledger.half[:60]}")
    for attempt in lineage.attempts.values():
        origin = f"after step {attempt.from_step} of attempt {attempt.parent}" if attempt.parent else "from nothing"
        lines.append(f"attempt {attempt.number:<6}  {attempt.kind} {origin}")
    lines += [f"change          {described(entry)}" for entry in changes] or ["change          none is in force"]
    for kept in checkpoints(run / FOLDER):
        rolled_back = "" if lineage.on_line(kept.attempt, kept.step) else ", rolled back"
        lines.append(f"checkpoint      {kept.path.name}, attempt {kept.attempt}{rolled_back}")
    return lines
