"""The diagnosis of a loss spike: everything that `obelics explain-spike` prints, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.diagnosis.curated import Curated, folder_of, percentile, read_curated, scores_of
from obelics_pipeline.training.diagnosis.plan_documents import PlanDocuments, Planned
from obelics_pipeline.training.diagnosis.replay import checkpoint_near, gradients, is_soon
from obelics_pipeline.training.diagnosis.robust import Numbers
from obelics_pipeline.training.diagnosis.rules import Removal, bounds_for, removals
from obelics_pipeline.training.diagnosis.shown import Shown, read_shown
from obelics_pipeline.training.diagnosis.sightings import Sightings
from obelics_pipeline.training.diagnosis.signals import BASELINE, Lead, Signal, leads, onset_of, signals_of
from obelics_pipeline.training.diagnosis.suspicion import Suspicions, replayed, suspicions
from obelics_pipeline.training.diagnosis.training_run import TrainingRun, loss_of
from obelics_pipeline.training.diagnosis.verdict import Verdict, is_untrained, verdict_of
from obelics_pipeline.training.train.guard.verdict import AFTER_STEPS, NEAR_STEPS
from obelics_pipeline.training.train.guard.verdict import verdict as judge
from obelics_pipeline.training.train.state.kept import FOLDER

REPLAYED = 64  # documents whose gradients are looked at
ORDINARY = 4.0  # suspicion below which a document is like many others
FEW = 20  # documents of a curation run below which they are no measure of a score: all runs that were seen are
LOOKED_AT = ("alarm", "skip_update", "rollback", "lr", "clip", "wait", "undo", "plateau")  # kinds of events nearby


@dataclass(frozen=True)
class Score:
    """A score of curation, and where it stands among those of the run: 0 lowest, 100 highest, None where unknown."""

    name: str
    value: float
    percentile: float | None


@dataclass(frozen=True)
class Suspect:
    """A document of the steps before a loss spike, and what makes it suspicious.

    Losses are in nats per target. `high`, `low` and `el2n_z`: robust deviations from documents like it.
    """

    document: Planned
    step: int
    steps: Sequence[int]  # of the window that saw it, all
    repeat: int  # passes over it before
    n_targets: int
    loss: float
    expected: float
    el2n: float
    high: float
    low: float
    el2n_z: float
    gradient: float | None  # norm, of its mean loss alone, before the spike; None where it was not replayed
    pull: float  # spreads
    timing: float
    share: float  # of the targets of its step
    suspicion: float
    folder: str | None  # of its curation run
    scores: Sequence[Score]
    bounds: Sequence[Removal]
    shown: Shown | None
    problem: str | None  # why it cannot be shown

    @property
    def side(self) -> str:
        """What is unusual about the document: its gradient, or its loss too high or too low."""
        if self.pull > max(self.high, self.low):
            return "gradient too large"
        return "loss too high" if self.high >= self.low else "loss too low"


def guilty_of(suspects: Sequence[Suspect]) -> Sequence[Suspect]:
    """The suspects that are not ordinary documents; the first one if all are ordinary."""
    return [one for one in suspects if one.suspicion >= ORDINARY] or suspects[:1]


@dataclass(frozen=True)
class LossDiagnosis:
    """A loss spike of a run and what explains it. `window`: the first and the last step that were examined."""

    run: Path
    step: int
    attempt: int
    attempts: Sequence[int]  # others that have had this step
    rolled_back: bool
    onset: int
    window: tuple[int, int]
    loss: float
    usual_loss: float
    words: int | None
    untrained: bool
    seen: int  # documents that were looked at
    suspects: Sequence[Suspect]
    rules: Sequence[Removal]
    corpus: int  # documents that the rules' costs are shares of
    leads: Sequence[Lead]
    hardware: Sequence[str]
    events: Sequence[str]
    verdict: Verdict
    signals: Sequence[Signal]
    replayed: int | None  # the step whose weights gradients were computed on; None: none were
    notices: Sequence[str]


def explain_spike(
    run: TrainingRun,
    step: int,
    window: int = 50,
    top: int = 10,
    attempt: int | None = None,
    pictures: bool = True,
    replay: bool | None = None,
) -> LossDiagnosis:
    """Explain one step of a run. `attempt`: the one whose loss was highest at that step, unless given.

    `replay`: whether to compute gradients of the documents. None: only if that takes seconds and everything is there.
    Raises UserError for a step that the run does not have, and where the losses per document or the plan are gone.
    """
    attempts = run.attempts_with(step)
    if attempt is None:
        attempt = max(attempts, key=lambda one: (_height(run, one, step), one))
    elif attempt not in attempts:
        raise UserError(f"--attempt {attempt}: has no step {step}; it was trained in {_listed(attempts)}")
    first = max(1, step - window)
    lines = run.steps(attempt, first - BASELINE, step + AFTER_STEPS)
    signals = signals_of(lines, first)
    onset = onset_of(signals, step)
    seen = run.sightings(attempt, first, step)
    if not len(seen):
        raise UserError(f"{run.path / 'accounts'}: no documents are noted of the steps {first} to {step}")
    plan = PlanDocuments(run.plan)
    dataset = plan.column("dataset", seen.document)
    found = suspicions(seen, dataset, onset)
    kept, gradient, failed = _replay(run, seen, found, attempt, onset, replay)
    found = replayed(found, seen, gradient)
    chosen = _first_of_each(seen, found.score, top)
    corpora = {f: c for f in _folders(plan, seen) if (c := read_curated(f)) is not None}
    corpus = _joined(list(corpora.values()))
    suspects = _suspects(plan, seen, found, gradient, chosen, corpora, corpus, pictures)
    loss = next(loss_of(line) for line in lines if line["step"] == step)
    usual = float(np.nanmedian([loss_of(line) for line in lines if first <= line["step"] < onset] or [loss]))
    left = leads(signals, step)
    hardware = [_event(e) for e in run.ledger if e.get("kind") == "hardware" and abs(_step(e) - onset) <= NEAR_STEPS]
    untrained = is_untrained(usual, plan.words)
    best = suspects[0] if suspects else None
    judged = judge(lines, onset, run.ledger)
    guilty = guilty_of(suspects)
    return LossDiagnosis(
        run=run.path,
        step=step,
        attempt=attempt,
        attempts=[one for one in attempts if one != attempt],
        rolled_back=not any(a == attempt and f <= step <= t for a, f, t in _final(run)),
        onset=onset,
        window=(first, step),
        loss=loss,
        usual_loss=usual,
        words=plan.words,
        untrained=untrained,
        seen=len(np.unique(seen.document)),
        suspects=suspects,
        rules=removals(corpus, [{s.name: s.value for s in one.scores} for one in guilty]) if corpora else [],
        corpus=sum(one.documents for one in corpora.values()),
        leads=left,
        hardware=hardware,
        events=[_event(e) for e in run.ledger if e.get("kind") in LOOKED_AT and first <= _step(e) <= step + NEAR_STEPS],
        verdict=verdict_of(
            best.suspicion if best else 0.0, best.document.dataset if best else None, left, judged, untrained
        ),
        signals=signals,
        replayed=kept,
        notices=[
            *failed,
            *_notices(plan, corpora, seen, {line["step"] for line in lines if first <= line["step"] <= step}),
        ],
    )


def _height(run: TrainingRun, attempt: int, step: int) -> float:
    """How far the loss of a step is above what it was before, in an attempt; of a loss that is no number infinitely."""
    lines = run.steps(attempt, step - BASELINE, step)
    found = next((s for s in signals_of(lines, max(1, step - 3)) if s.name == "loss"), None)
    return float(found.z.max()) if found is not None else 0.0


def _final(run: TrainingRun) -> list[tuple[int, int, int]]:
    return run.lineage.parts(run.lineage.last, 1, run.last_step)


def _replay(
    run: TrainingRun, seen: Sightings, found: Suspicions, attempt: int, onset: int, wanted: bool | None
) -> tuple[int | None, Numbers, list[str]]:
    """The step of the checkpoint that was used, the gradient of each sighting, and notes on why gradients are missing.

    Raises UserError if a replay is wanted and cannot be done.
    """
    gradient = np.full(len(seen), np.nan)
    try:
        kept = None if wanted is False else checkpoint_near(run, attempt, onset)
        if wanted and kept is None:
            raise UserError(f"--replay: {run.path / FOLDER} has no checkpoint on the way to step {onset} or after it")
        if kept is None or not (wanted or is_soon(kept)):
            return None, gradient, []
        tried = _candidates(seen, found, onset)
        gradient[tried] = gradients(kept, run.plan, seen, tried)
    except UserError as error:
        if wanted:
            raise
        return None, gradient, [f"gradients of single documents were not looked at: {error}"]
    return kept.step, gradient, []


def _candidates(seen: Sightings, found: Suspicions, onset: int) -> list[int]:
    """Sightings to replay: in turn the most suspicious one by its loss, and the next one by its distance in steps."""
    by_loss = _first_of_each(seen, found.score, REPLAYED)
    by_step = _first_of_each(seen, found.score - 1e6 * np.abs(seen.step - onset), REPLAYED)
    return list(dict.fromkeys(at for both in zip(by_loss, by_step, strict=True) for at in both))[:REPLAYED]


def _first_of_each(seen: Sightings, score: Numbers, top: int) -> list[int]:
    """The most suspicious sighting of each document, the most suspicious document first."""
    chosen: dict[int, int] = {}
    for at in np.lexsort((seen.document, -seen.step, -score)).tolist():
        chosen.setdefault(int(seen.document[at]), at)
        if len(chosen) == top:
            break
    return list(chosen.values())


def _suspects(
    plan: PlanDocuments,
    seen: Sightings,
    found: Suspicions,
    gradient: Numbers,
    chosen: Sequence[int],
    corpora: Mapping[str, Curated],
    everything: Mapping[str, Numbers],
    pictures: bool,
) -> list[Suspect]:
    documents = plan.documents([int(seen.document[at]) for at in chosen])
    by_folder: dict[str, list[str]] = {}
    for document in documents:
        folder = folder_of(document.shard)
        if folder in corpora:
            by_folder.setdefault(str(folder), []).append(document.doc_id)
    scores = {folder: scores_of(folder, ids) for folder, ids in by_folder.items()}
    suspects = []
    for at, document in zip(chosen, documents, strict=True):
        folder = folder_of(document.shard)
        values = scores.get(str(folder), {}).get(document.doc_id, {})
        run = corpora.get(folder) if folder is not None else None
        corpus = {} if run is None else run.scores if run.documents >= FEW else everything
        shown, problem = _shown(document, pictures)
        number = int(seen.document[at])
        suspects.append(
            Suspect(
                document=document,
                step=int(seen.step[at]),
                steps=sorted(set(seen.step[seen.document == number].tolist())),
                repeat=int(seen.repeat[at]),
                n_targets=int(seen.n_targets[at]),
                loss=float(seen.loss[at]),
                expected=float(found.expected[at]),
                el2n=float(seen.el2n[at]),
                high=float(found.high[at]),
                low=float(found.low[at]),
                el2n_z=float(found.el2n[at]),
                gradient=float(gradient[at]) if np.isfinite(gradient[at]) else None,
                pull=float(found.pull[at]),
                timing=float(found.timing[at]),
                share=float(found.share[at]),
                suspicion=float(found.score[at]),
                folder=folder,
                scores=[Score(n, v, percentile(v, corpus[n])) for n, v in values.items() if v is not None],
                bounds=bounds_for(corpus, values),
                shown=shown,
                problem=problem,
            )
        )
    return suspects


def _shown(document: Planned, pictures: bool) -> tuple[Shown | None, str | None]:
    try:
        return read_shown(document, pictures), None
    except UserError as error:
        return None, str(error)


def _folders(plan: PlanDocuments, seen: Sightings) -> list[str]:
    """The curation runs of the documents that were seen."""
    shards = set(plan.column("shard", np.unique(seen.document)).tolist())
    return sorted({folder for shard in shards if (folder := folder_of(shard)) is not None})


def _joined(corpora: Sequence[Curated]) -> dict[str, Numbers]:
    """Scores over several runs; one that a run did not measure is missing of all its documents."""
    names = list(dict.fromkeys(name for one in corpora for name in one.scores))
    lengths = [len(next(iter(one.scores.values()))) if one.scores else 0 for one in corpora]
    return {
        name: np.concatenate(
            [one.scores.get(name, np.full(n, np.nan)) for one, n in zip(corpora, lengths, strict=True)]
        )
        for name in names
    }


def _step(entry: Mapping[str, Any]) -> int:
    return int(entry.get("step") or 0)


def _event(entry: Mapping[str, Any]) -> str:
    """An entry of the ledger in a line. Where it has no words, its evidence has to do."""
    if entry.get("kind") == "alarm" and entry.get("signal"):
        return f"step {_step(entry)}: alarm: {entry.get('why')}: {entry['signal']} {_number(entry.get('value'))}"
    evidence = {} if entry.get("why") else entry.get("evidence") or {}
    told = ", ".join(f"{name} {value}" for name, value in evidence.items() if not isinstance(value, dict | list))
    why = str(entry.get("why") or entry.get("reason") or "")
    return f"step {_step(entry)}: {entry.get('kind')}" + (f": {why}" if why else "") + (f" ({told})" if told else "")


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else "none"


def _notices(plan: PlanDocuments, corpora: Mapping[str, Curated], seen: Sightings, steps: set[int]) -> list[str]:
    notices = []
    gaps = len(steps - set(seen.step.tolist()))
    if gaps:
        notices.append(f"of {gaps} of {len(steps)} steps no documents are noted: the process was killed before it was")
    for folder in _folders(plan, seen):
        if folder not in corpora:
            notices.append(f"{folder}: has no index.parquet any more: its documents are shown without scores")
    if not any(folder_of(shard) for shard in plan.shards):
        notices.append("no shard lies in the folder of a curation run: documents are shown without scores")
    return notices


def _listed(attempts: Sequence[int]) -> str:
    return "attempt " + ", ".join(map(str, attempts))
