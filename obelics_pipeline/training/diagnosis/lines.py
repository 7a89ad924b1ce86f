"""A loss diagnosis as plain lines for a terminal. Control characters in text of the web are removed."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator

from obelics_pipeline.core.html.visible import on_a_line
from obelics_pipeline.training.diagnosis.loss_diagnosis import ORDINARY, LossDiagnosis, Suspect
from obelics_pipeline.training.diagnosis.rules import Removal

WIDTH = 110  # characters of a text that are shown
SCORES = 4  # of a suspect: those nearest to an end of the corpus


def lines_of(diagnosis: LossDiagnosis) -> Iterator[str]:
    """The lines of a loss diagnosis: the spike, the signals that moved first, the suspects, and filters that would drop
    them.
    """
    yield from heading(diagnosis)
    yield ""
    yield "what left its range, the earliest first"
    for lead in diagnosis.leads[:8]:
        yield f"  step {lead.step:<8,} {_when(lead.before):<28} {on_a_line(lead.name, 40)}, {_spreads(lead.farthest)}"
    if not diagnosis.leads:
        yield "  nothing"
    for title, events in (("hardware", diagnosis.hardware), ("what the ledger says of these steps", diagnosis.events)):
        if events:
            yield f"\n{title}"
            yield from (f"  {on_a_line(event, WIDTH)}" for event in events[:12])
    yield ""
    yield "suspects, the first to look at first"
    for number, suspect in enumerate(diagnosis.suspects, 1):
        yield from _suspect(number, suspect)
    yield "thresholds that would have removed them"
    for rule in diagnosis.rules:
        yield f"  {removal_text(rule)}"
    if not diagnosis.rules:
        yield "  none: no score tells them from the rest"
    for notice in diagnosis.notices:
        yield f"note: {on_a_line(notice)}"


def heading(diagnosis: LossDiagnosis) -> Iterator[str]:
    """Which step, how high, and the verdict."""
    others = f" (also in {', '.join(map(str, diagnosis.attempts))})" if diagnosis.attempts else ""
    lost = ", rolled back since" if diagnosis.rolled_back else ""
    yield f"step {diagnosis.step:,} of {on_a_line(str(diagnosis.run))}, attempt {diagnosis.attempt}{others}{lost}"
    usual = f"before it {number_of(diagnosis.usual_loss)}; it begins at step {diagnosis.onset:,}"
    yield f"  loss {number_of(diagnosis.loss)}, {usual}"
    yield f"  looked at: {diagnosis.seen:,} documents of the steps {diagnosis.window[0]:,} to {diagnosis.window[1]:,}"
    if diagnosis.replayed is not None:
        yield f"  gradients of single documents: on the weights after step {diagnosis.replayed:,}"
    yield f"verdict: {diagnosis.verdict.cause}"
    for line in diagnosis.verdict.evidence:
        yield f"  {on_a_line(line, WIDTH)}"
    if diagnosis.untrained:
        yield (
            f"warning: a loss of {diagnosis.usual_loss:.3g} is the loss of an untrained model (ln {diagnosis.words:,} "
            f"= {math.log(diagnosis.words or 1):.3g}); a ranking of documents means nothing yet"
        )


def suspicion_text(one: Suspect) -> str:
    """A number, and whether it is that of an ordinary document."""
    return f"{one.suspicion:.1f}" + (" (ordinary)" if one.suspicion < ORDINARY else "")


def removal_text(rule: Removal) -> str:
    """`word_repetition_ratio <= 0.11 would have removed 8 of 10 and 0.4 % of the corpus`."""
    ks = f"; distance of distributions {rule.ks:.2f}" if rule.of_suspects > 1 else ""
    removed = f"{rule.suspects} of {rule.of_suspects} and {share_text(rule.share)} of the corpus"
    return f"{rule.keeps} would have removed {removed}{ks}"


def gradient_text(one: Suspect) -> str:
    """`, gradient 11.6 (+19.4)`; nothing where it was not looked at."""
    return "" if one.gradient is None else f", gradient {one.gradient:.3g} ({one.pull:+.1f})"


def share_text(share: float) -> str:
    """A percentage."""
    percent = 100 * share
    return f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"


def explain_command(suspect: Suspect) -> str | None:
    """What to type to learn all of a document's life; None where its run is gone."""
    return (
        None if suspect.folder is None else f"obelics explain {shlex.quote(suspect.folder)} {suspect.document.doc_id}"
    )


def number_of(value: float) -> str:
    """Four digits."""
    return f"{value:.4g}"


def ends(suspect: Suspect) -> list[str]:
    """Its scores that are nearest to an end of the corpus."""
    known = [score for score in suspect.scores if score.percentile is not None]
    known.sort(key=lambda s: (min(s.percentile or 0, 100 - (s.percentile or 0)), s.name))
    return [f"{s.name} {s.value:.4g} (percentile {s.percentile:.1f})" for s in known[:SCORES]]


def _suspect(number: int, one: Suspect) -> Iterator[str]:
    document = one.document
    yield (
        f"{number:3}. {document.doc_id}  step {one.step:,}  {one.side}: {one.loss:.2f} for {one.expected:.2f} nats a "
        f"token ({one.high:+.1f} spreads), el2n {one.el2n:.2f} ({one.el2n_z:+.1f}){gradient_text(one)}"
    )
    seen = f", pass {one.repeat + 1} over it" if one.repeat else ""
    yield (
        f"     {on_a_line(document.dataset, 40)}, {one.n_targets:,} targets, {share_text(one.share)} of its step{seen}"
        f"; suspicion {suspicion_text(one)}"
    )
    yield f"     {on_a_line(document.url, WIDTH)}"
    yield (
        f"     {on_a_line(document.warc_filename, 80)} at byte {document.warc_record_offset:,}, "
        f"{document.warc_record_length:,} bytes"
    )
    if one.shown is not None:
        yield f"     “{on_a_line(one.shown.text, WIDTH)}”"
        for picture in one.shown.pictures:
            size = f"{picture.width}x{picture.height}" if picture.width else "not readable"
            yield f"     image {on_a_line(picture.name, 40)}: {size}, {picture.n_bytes:,} bytes"
    if one.problem is not None:
        yield f"     cannot be shown: {on_a_line(one.problem, WIDTH)}"
    if one.scores:
        yield f"     {'; '.join(ends(one))}"
    for bound in one.bounds:
        yield f"     removed by {bound.keeps}, which costs {share_text(bound.share)} of the corpus"
    command = explain_command(one)
    if command is not None:
        yield f"     {on_a_line(command)}"
    yield ""


def _when(before: int) -> str:
    if before == 0:
        return "with the loss"
    return f"{abs(before):,} steps {'before' if before > 0 else 'after'} the loss"


def _spreads(value: float) -> str:
    return "no finite number" if math.isinf(value) else f"{value:+.1f} spreads"
