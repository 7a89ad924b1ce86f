"""What the guard does: nothing in a healthy run, the right thing in a sick one."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf, nan

import pytest

from obelics_pipeline.training.train.guard.config import GuardConfig
from obelics_pipeline.training.train.guard.decision import Decision
from obelics_pipeline.training.train.guard.guard import Guard
from obelics_pipeline.training.train.guard.history import History, Rollback
from obelics_pipeline.training.train.guard.observation import DatasetSigns, Hardware, Observation
from tests.training.train.guard.series import clean, grown, louder, remixed

PLAIN = 10
"""A seed of a run with three data sets."""
AT = 300


def watched(guard: Guard, series: Iterable[Observation]) -> Iterator[tuple[Observation, Decision, Decision]]:
    """Each step's two decisions, up to the first rollback or stop."""
    for seen in series:
        before = guard.before_step(seen)
        after = guard.after_step(seen)
        yield seen, before, after
        if after.action in ("rollback", "stop"):
            return


def last(guard: Guard, series: Iterable[Observation]) -> tuple[Observation, Decision, Decision]:
    *_, end = watched(guard, series)
    return end


def faulty(seed: int, change, start: int = AT, stop: int = 10**9, steps: int = AT + 160) -> Iterator[Observation]:
    for seen in clean(seed, steps):
        yield change(seen) if start <= seen.step < stop else seen


def guard(**changes: object) -> Guard:
    return Guard(GuardConfig.model_validate(changes), planned_steps=10_000)


def actions(series: Iterable[Observation]) -> list[tuple[int, str]]:
    found = []
    for seen, before, after in watched(guard(), series):
        if before.skip:
            found.append((seen.step, "skip"))
        if after.action != "none":
            found.append((seen.step, after.action))
    return found


@pytest.mark.parametrize("seed", range(100, 103))
def test_a_healthy_run_is_left_alone(seed: int) -> None:
    assert [a for a in actions(clean(seed, 700)) if a[1] != "wait"] == []


@pytest.mark.by_hand
@pytest.mark.parametrize("seed", range(200, 210))
def test_ten_thousand_healthy_steps_are_left_alone(seed: int) -> None:
    assert [a for a in actions(clean(seed, 1_000)) if a[1] != "wait"] == []


def test_a_nan_is_skipped_and_after_three_in_a_row_rolled_back() -> None:
    found = actions(faulty(PLAIN, lambda seen: replace(seen, grad_norm=nan, finite=False)))
    assert found == [(AT, "skip"), (AT + 1, "skip"), (AT + 2, "skip"), (AT + 3, "rollback")]


def test_a_gradient_far_out_is_skipped_before_it_happens_and_the_run_goes_on() -> None:
    found = actions(faulty(PLAIN, lambda seen: replace(seen, grad_norm=300 * seen.grad_norm), stop=AT + 1))
    assert found == [(AT, "skip")]


@pytest.mark.parametrize(("rise", "done"), [(0.0, []), (0.7, [(AT, "skip"), (AT, "wait")])])
def test_a_long_gradient_is_skipped_only_where_the_loss_jumps_too(rise: float, done: list) -> None:
    assert actions(faulty(PLAIN, lambda seen: louder(seen, rise, grad=40), stop=AT + 1)) == done


def test_skipping_has_a_budget() -> None:
    bad = range(AT, AT + 100, 10)
    series = (replace(s, grad_norm=inf, finite=False) if s.step in bad else s for s in clean(PLAIN, AT + 160))
    found = actions(series)
    assert [a for _, a in found] == ["skip"] * 3 + ["rollback"]


def test_a_spike_that_returns_is_waited_for() -> None:
    g = guard()
    seen = list(watched(g, faulty(PLAIN, lambda s: louder(s, 0.7), stop=AT + 20)))
    assert [(s.step, a.action) for s, _, a in seen if a.action != "none"] == [(AT, "wait")]
    returned = [s.step for s, _, a in seen if "returned" in a.why]
    assert len(returned) == 1 and AT + 20 < returned[0] < AT + 30


def test_a_spike_that_does_not_return_is_rolled_back_with_its_rows() -> None:
    seen, _, decision = last(guard(), faulty(PLAIN, lambda s: louder(s, 0.7)))
    assert seen.step == AT + 100 and decision.action == "rollback" and decision.cause == "spike"
    assert decision.to_before_step is not None and AT - 40 < decision.to_before_step <= AT
    assert decision.lr_factor == 1.0
    ((start, stop),) = decision.skip_rows
    assert start <= (AT - 1) * 8 < stop < (AT + 20) * 8  # what came after the onset is innocent


def test_gradients_far_out_for_ten_steps_are_rolled_back() -> None:
    found = actions(faulty(PLAIN, lambda seen: replace(seen, grad_norm=300 * seen.grad_norm)))
    assert found == [(AT, "skip"), (AT + 10, "rollback")]


@pytest.mark.parametrize(("after", "rolled_back"), [(2.02, False), (2.06, True)])
def test_a_spike_that_returned_and_left_damage_is_rolled_back(after: float, rolled_back: bool) -> None:
    g = guard()
    for step, loss in ((AT - 80, 2.2), (AT - 60, 2.03), (AT - 40, 2.01), (AT - 20, 2.02)):
        g.evaluated(step, {"web": loss})
    end = None
    for seen, _, decision in watched(g, faulty(PLAIN, lambda s: louder(s, 0.7), stop=AT + 20)):
        if seen.step == AT + 40:
            g.evaluated(seen.step, {"web": after})
        end = (seen.step, decision)
    assert end is not None and (end[1].action == "rollback") is rolled_back
    if rolled_back:
        assert end[0] == AT + 41 and "held-out loss is 1.5% higher" in end[1].why
        assert end[1].to_before_step is not None and end[1].to_before_step <= AT


def test_held_out_losses_that_rise_without_a_spike_are_none_of_the_guards_business() -> None:
    g = guard()
    for step in range(20, AT, 20):
        g.evaluated(step, {"web": 2.0 + step / 100})
    assert [a for *_, a in watched(g, faulty(PLAIN, lambda s: s, steps=AT)) if a.action != "none"] == []


def test_a_jump_in_the_smallest_data_set_alone_is_seen() -> None:
    first = next(clean(PLAIN, 1))
    small = min(first.datasets, key=lambda n: first.datasets[n].targets)

    def louder_there(seen: Observation) -> Observation:
        sets = {n: replace(d, loss=3 * d.loss) if n == small else d for n, d in seen.datasets.items()}
        return replace(seen, datasets=sets)

    for seen, before, _ in watched(guard(), faulty(PLAIN, louder_there)):
        signals = {a.signal for a in before.alarms if a.kind == "loss_jump"}
        assert signals == ({f"loss:{small}"} if seen.step >= AT else set())
        if seen.step == AT:
            break


MIXES = [((1.0, 0.0), (0.2, 0.8)), ((0.5, 0.5), (0.1, 0.9)), ((1.0, 0.0), (0.0, 1.0)), ((0.1, 0.9), (0.9, 0.1))]


@pytest.mark.parametrize(("before", "after"), MIXES)
def test_a_plan_that_changes_its_mix_is_left_alone(before: tuple[float, float], after: tuple[float, float]) -> None:
    assert [a for a in actions(remixed(0, before, after, AT, AT + 160)) if a[1] != "wait"] == []


@pytest.mark.parametrize("by", [0.3, 1.0])
def test_a_spike_after_the_mix_has_changed_is_rolled_back_still(by: float) -> None:
    series = (louder(s, by) if s.step >= AT + 60 else s for s in remixed(0, *MIXES[0], AT, AT + 200))
    assert actions(series) == [(AT + 60, "wait"), (AT + 160, "rollback")]


def test_of_the_set_that_was_alone_nothing_is_forgotten_when_another_one_comes() -> None:
    def louder_there(seen: Observation) -> Observation:
        sets = {n: replace(d, loss=1.5 * d.loss) if n == "easy" else d for n, d in seen.datasets.items()}
        return replace(seen, datasets=sets)

    series = (louder_there(s) if s.step >= AT + 5 else s for s in remixed(0, *MIXES[0], AT, AT + 6))
    *_, (_, before, _) = watched(guard(), series)
    assert "loss:easy" in {a.signal for a in before.alarms if a.kind == "loss_jump"}


@pytest.mark.parametrize(("grad", "done"), [(1.2, []), (40.0, [(AT, "skip")])])
def test_a_document_of_a_new_data_set_is_a_spike_where_the_gradient_is_far(grad: float, done: list) -> None:
    """A corpus of one bad page: nothing is known of its loss, but a harder corpus does not multiply gradients."""

    def joined(seen: Observation) -> Observation:
        alone = DatasetSigns(seen.loss, 8000, seen.log_z, 1.3 * seen.loss)
        page = replace(alone, loss=3 * seen.loss)
        if seen.step != AT:
            return replace(seen, datasets={"web": alone})
        sets = {"web": alone, "new": page}
        return replace(seen, loss=2 * seen.loss, datasets=sets, grad_norm=grad * seen.grad_norm)

    assert [a for a in actions(map(joined, clean(PLAIN, AT + 30))) if a[1] != "wait"] == done


def test_a_guard_goes_on_from_a_checkpoint_in_the_middle_of_a_change_of_the_mix() -> None:
    whole, cut = guard(), guard()
    for seen in remixed(0, *MIXES[0], AT, AT + 40):
        if seen.step == AT + 2:
            cut = Guard(GuardConfig(), json.loads(json.dumps(cut.state())), planned_steps=10_000)
        assert whole.before_step(seen) == cut.before_step(seen)
        assert whole.after_step(seen) == cut.after_step(seen)


@pytest.mark.parametrize("start", [AT, AT + 1, AT + 9])
def test_gradients_of_zero_are_an_alarm_within_twenty_steps(start: int) -> None:
    def frozen(seen: Observation) -> Observation:
        return replace(seen, gradients={n: 0.0 if n == "1.q" else g for n, g in seen.gradients.items()})

    def all_zero(seen: Observation) -> Observation:
        return replace(seen, grad_norm=0.0, gradients=dict.fromkeys(seen.gradients, 0.0))

    for change, signal, within in ((all_zero, "grad_norm", 3), (frozen, "gradient:1.q", 20)):
        pictures = (replace(s, images=4) for s in faulty(PLAIN, change, start=start, steps=start + 19))
        found = [
            (s.step, a.signal) for s, b, _ in watched(guard(), pictures) for a in b.alarms if a.kind == "grad_zero"
        ]
        assert found[0][1] == signal and found[0][0] - start < within


def test_gradients_of_zero_in_a_step_without_pictures_or_at_closed_gates_are_none() -> None:
    def text_only(seen: Observation) -> Observation:
        return replace(seen, images=0 if seen.step > 1 else 4, gradients=dict.fromkeys(seen.gradients, 0.0))

    steps = watched(guard(), (text_only(s) for s in clean(PLAIN, 60)))
    assert not [a for _, before, _ in steps for a in before.alarms if a.kind == "grad_zero"]


def test_a_gradient_that_comes_back_from_zero_is_no_jump() -> None:
    series = faulty(PLAIN, lambda s: replace(s, grad_norm=0.0), stop=AT + 40, steps=AT + 60)
    assert actions(series) == []


def test_logits_that_collapse_are_named() -> None:
    change = lambda seen: replace(louder(seen, 0.5), log_z=seen.log_z - 6)  # noqa: E731
    for seen, before, _ in watched(guard(), faulty(PLAIN, change)):
        if seen.step == AT:
            assert {"logit_collapse", "loss_jump"} <= {a.kind for a in before.alarms}
            break


def test_a_spike_of_a_broken_model_is_not_waited_for_to_the_end() -> None:
    change = lambda seen: replace(louder(seen, 0.5), log_z=seen.log_z - 6)  # noqa: E731
    seen, _, decision = last(guard(), faulty(PLAIN, change))
    assert decision.action == "rollback" and seen.step == AT + 30


def test_a_collapse_that_hides_in_the_noise_of_the_loss_is_rolled_back_if_it_stays() -> None:
    seen, _, decision = last(guard(), faulty(PLAIN, lambda s: replace(s, log_z=s.log_z - 6)))
    assert decision.action == "rollback" and seen.step == AT + 30
    assert actions(faulty(PLAIN, lambda s: replace(s, log_z=s.log_z - 6), stop=AT + 9)) == [(AT, "wait")]


def test_activations_that_grow_are_seen_early_and_rolled_back_to_before_they_grew() -> None:
    change = lambda seen: louder(grown(seen, "1", 1.04 ** (seen.step - AT)), max(0, seen.step - AT - 30) * 0.004)  # noqa: E731
    steps = list(watched(guard(), faulty(PLAIN, change)))
    late = [(s.step, {a.kind for a in b.alarms}) for s, b, _ in steps if s.step >= AT]
    first = min(step for step, kinds in late if "activation_drift" in kinds)
    seen, _, decision = steps[-1]
    assert first <= AT + 30
    assert decision.action == "rollback" and decision.cause == "divergence" and seen.step <= AT + 100
    assert decision.to_before_step is not None and AT - 40 < decision.to_before_step <= first


@pytest.mark.parametrize("factor", [10, 2, 0.5, 0.01])
def test_a_learning_rate_off_its_line_changes_nothing_and_is_set_right(factor: float) -> None:
    seen, before, decision = last(guard(), faulty(PLAIN, lambda s: replace(s, lr=s.lr * factor)))
    assert seen.step == AT and before.skip
    assert decision.action == "rollback" and decision.to_before_step == AT and decision.skip_rows == ()
    assert decision.lr_factor == 1.0 and "the optimiser has learning rate" in decision.why


def test_a_schedule_that_begins_anew_after_a_resume_is_seen_at_its_first_step() -> None:
    early = [seen for seen in clean(PLAIN, 10) if seen.lr > 0]

    def again(seen: Observation) -> Observation:
        other = early[min(seen.step - AT, len(early) - 1)]
        return replace(seen, lr=other.lr, lr_expected=other.lr_expected, lr_before=other.lr_before)

    seen, before, decision = last(guard(), faulty(PLAIN, again))
    assert seen.step == AT and before.skip
    assert decision.cause == "learning_rate" and "the schedule is another" in decision.why


def test_a_learning_rate_that_an_intervention_explains_is_fine() -> None:
    change = lambda seen: replace(seen, lr=0.75 * seen.lr, lr_expected=0.75 * seen.lr, lr_factor=0.75)  # noqa: E731
    assert actions(faulty(PLAIN, change)) == []


def test_a_wrong_rate_twice_stops_the_run() -> None:
    g = guard()
    _, _, decision = last(g, faulty(PLAIN, lambda s: replace(s, lr=s.lr * 10)))
    g.rolled_back(decision, AT - 1, None)
    _, _, again = last(g, faulty(PLAIN, lambda s: replace(s, lr=s.lr * 10)))
    assert again.action == "stop" and "again" in again.why


def test_a_guard_that_saw_no_step_goes_back_with_the_one_that_did() -> None:
    """As in all processes of a training but the first."""
    first, second = guard(), guard()
    _, _, decision = last(first, faulty(PLAIN, lambda s: replace(s, lr=s.lr * 10)))
    for g in (first, second):
        g.rolled_back(decision, AT - 1, None)


def test_a_canary_that_differs_rolls_back_to_where_all_was_well() -> None:
    event = Hardware("canary", "rank 3", True, good_until=AT - 25)
    _, _, decision = last(guard(), faulty(PLAIN, lambda s: replace(s, hardware=(event,))))
    assert decision.action == "rollback" and decision.cause == "hardware" and decision.to_before_step == AT - 24
    assert decision.lr_factor == 1.0 and decision.skip_rows == () and decision.deny == ("rank 3",)


def test_a_spike_beside_a_hardware_event_keeps_rows_and_rate() -> None:
    event = Hardware("xid 63", "0000:10:1c", False)
    g = guard()
    g.history.rollbacks.append(Rollback(AT - 100, AT - 150, 1.0, "spike"))
    change = lambda s: replace(louder(s, 0.7), hardware=(event,) if s.step == AT + 3 else ())  # noqa: E731
    _, _, decision = last(g, faulty(PLAIN, change))
    assert decision.cause == "hardware" and decision.lr_factor == 1.0 and decision.skip_rows == ()
    assert "xid 63 at 0000:10:1c" in decision.why


def test_a_hardware_event_alone_is_recorded_and_nothing_is_done() -> None:
    event = Hardware("xid 63", "0000:10:1c", False)
    assert actions(faulty(PLAIN, lambda s: replace(s, hardware=(event,)), stop=AT + 1)) == []


def test_rollbacks_escalate() -> None:
    """Twice as far each time, x 1, 0.75, 0.5, then what is left above a quarter."""
    g = guard()
    factors, distances = [], []
    for _ in range(5):
        seen, _, decision = last(g, faulty(PLAIN, lambda s: louder(s, 0.7)))
        assert decision.action == "rollback" and decision.to_before_step is not None
        factors.append(decision.lr_factor)
        distances.append(seen.step - (decision.to_before_step - 1))
        g.rolled_back(decision, decision.to_before_step - 21, None)
    assert factors[:3] == [1.0, 0.75, 0.5]
    assert g.history.factor == pytest.approx(0.25)
    assert distances[1] >= 2 * distances[0] and distances[2] >= min(2 * distances[1], AT)


def test_what_comes_back_at_once_was_in_the_checkpoint_and_says_nothing_of_the_rate() -> None:
    g = guard()
    g.history.rollbacks.append(Rollback(AT + 40, AT - 5, 1.0, "spike"))
    _, _, decision = last(g, faulty(PLAIN, lambda s: louder(s, 0.7)))
    assert decision.lr_factor == 1.0 and decision.to_before_step is not None
    assert decision.to_before_step <= AT + 100 - 2 * 45 + 1


def test_a_checkpoint_whose_held_out_loss_is_high_is_not_gone_back_to() -> None:
    g = guard()
    for step, loss in ((AT - 80, 2.2), (AT - 60, 2.03), (AT - 40, 2.6), (AT - 20, 2.7)):
        g.evaluated(step, {"web": loss})
    _, _, decision = last(g, faulty(PLAIN, lambda s: louder(s, 0.7)))
    assert decision.to_before_step == AT - 40


@pytest.mark.parametrize(("now", "back"), [(2.1, False), (2.6, True)])
def test_held_out_rows_say_whether_a_spike_is_the_models_or_the_batchs(now: float, back: bool) -> None:
    g = guard()
    g.evaluated(AT - 50, {"web": 2.0})
    for seen, _, decision in watched(g, faulty(PLAIN, lambda s: louder(s, 0.7), steps=AT + 5)):
        if decision.action == "wait":
            g.evaluated(seen.step, {"web": now})
    assert (decision.action == "rollback") is back
    if back:
        assert seen.step == AT + 1 and "30% higher: it is the model" in decision.why


@pytest.mark.parametrize("by", [0.002, 0.01, 0.03])
def test_a_loss_that_climbs_alone_is_a_divergence(by: float) -> None:
    series = list(faulty(11, lambda s: louder(s, by * (s.step - AT))))
    first = min(s.step for s, before, _ in watched(guard(), series) if any(a.since >= AT for a in before.alarms))
    seen, _, decision = last(guard(), series)
    assert first <= AT + 50 and decision.action == "rollback" and seen.step <= AT + 150
    assert decision.to_before_step is not None and AT - 20 < decision.to_before_step <= first


@pytest.mark.parametrize("by", [-0.05, 0.05])
def test_log_z_that_leaves_its_line_slowly_is_an_alarm(by: float) -> None:
    series = faulty(PLAIN, lambda s: replace(s, log_z=s.log_z + by * (s.step - AT)), steps=AT + 50)
    kinds = {a.kind for _, before, _ in watched(guard(), series) for a in before.alarms}
    assert "log_z_drift" in kinds


def test_a_far_gradient_that_comes_again_is_let_through() -> None:
    """Healthy runs pass sharp places, and the gradient is the way out: skipping would keep them there."""
    change = lambda s: replace(s, grad_norm=300 * s.grad_norm)  # noqa: E731
    assert actions(faulty(PLAIN, change, stop=AT + 4)) == [(AT, "skip")]


def test_long_apart_incidents_do_not_escalate() -> None:
    g = guard()
    g.history.rollbacks.append(Rollback(AT + 5_000, AT + 4_900, 1.0, "spike"))
    _, _, decision = last(g, faulty(PLAIN, lambda s: louder(s, 0.7)))
    assert decision.lr_factor == 1.0


@pytest.mark.parametrize(
    ("past", "said"),
    [
        ([Rollback(9_000, 8_999, 1.0, "spike")] * 11, "all 11 rollbacks are spent"),
        ([Rollback(9_000, 7_000, 1.0, "spike")], "2000 of 10000 planned steps are lost"),
    ],
)
def test_a_spent_budget_stops_the_run(past: list[Rollback], said: str) -> None:
    g = Guard(GuardConfig(), planned_steps=10_000, history=History(past))
    _, _, decision = last(g, faulty(PLAIN, lambda s: louder(s, 0.7)))
    assert decision.action == "stop" and said in decision.why and decision.evidence["open_since"]


def test_one_token_everywhere_and_a_loss_too_good_are_alarms_and_no_actions() -> None:
    def escaped(seen: Observation) -> Observation:
        return replace(louder(seen, -0.02 * min(seen.step - AT, 40)), top1_share=0.7)

    kinds = set()
    for seen, before, after in watched(guard(), faulty(PLAIN, escaped, steps=AT + 100)):
        assert not before.skip and after.action == "none"
        kinds |= {(a.kind) for a in before.alarms if seen.step >= AT}
    assert {"one_token", "too_low"} <= kinds


def test_a_guard_that_is_off_sees_and_does_nothing() -> None:
    g = guard(enabled=False)
    seen = list(watched(g, faulty(PLAIN, lambda s: replace(s, grad_norm=inf, loss=nan))))
    assert not any(b.skip or a.action != "none" for _, b, a in seen) and seen[-1][1].alarms


def test_a_guard_goes_on_from_a_checkpoint_as_if_nothing_had_been() -> None:
    """At any moment: calm, in a spike, and in the steps that are skipped."""
    change = lambda s: louder(replace(s, grad_norm=s.grad_norm * (60 if s.step == AT else 1)), 0.7)  # noqa: E731
    series = list(faulty(PLAIN, change, stop=AT + 60))
    whole = guard()
    states, decisions = {}, []
    for seen in series:
        if seen.step in (150, AT - 1, AT + 1, AT + 30):
            states[seen.step] = json.dumps(whole.state())
        decisions.append((whole.before_step(seen), whole.after_step(seen)))
    for at, state in states.items():
        other = Guard(GuardConfig(), json.loads(state), planned_steps=10_000)
        late = [s for s in series if s.step >= at]
        assert [(other.before_step(s), other.after_step(s)) for s in late] == decisions[-len(late) :]


def test_history_comes_from_the_ledger_and_what_was_undone_does_not_count() -> None:
    entries = [
        {"number": 1, "step": 100, "kind": "rollback", "to_step": 50, "lr_factor": 0.75, "cause": "spike"},
        {"number": 2, "step": 120, "kind": "rollback", "to_step": 100, "lr_factor": 0.5, "cause": "spike"},
        {"number": 3, "step": 130, "kind": "skip_update"},
        {"number": 4, "step": 131, "kind": "undo", "of": 2},
    ]
    history = History.from_ledger(entries)
    assert history.rollbacks == [Rollback(100, 50, 0.75, "spike")] and history.skipped == [130]
    assert history.factor == 0.75 and history.lost == 51


def test_decisions_and_their_evidence_are_json() -> None:
    for _, before, after in watched(guard(), faulty(PLAIN, lambda s: replace(louder(s, 0.7), log_z=nan))):
        json.dumps([before.entry(), after.entry(), [a.entry() for a in before.alarms]], allow_nan=False)


def test_a_line_of_metrics_is_an_observation() -> None:
    line = {
        "step": 7, "cursor": 56, "rows": 8, "lr": 1e-3, "loss": 2.5, "grad_norm": None, "log_z": 0.1, "clipped": True,
        "datasets": {"web": {"loss": 2.5, "log_z": 0.1, "targets": 900, "worst": 3.1}},
        "activations": {"0.o": {"rms": 1.0, "max": 4.0}}, "gradients": {"0.o": 0.3}, "top1_share": 0.1,
    }  # fmt: skip
    seen = Observation.from_metrics(line)
    assert seen.datasets["web"].targets == 900 and seen.activations["0.o"].max == 4.0 and not seen.healthy
