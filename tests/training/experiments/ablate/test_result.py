"""The result: what can be seen stands before what was seen, and nothing is claimed of an interval that holds 0."""

import json

from obelics_pipeline.training.experiments.ablate.markdown import markdown
from obelics_pipeline.training.experiments.ablate.outcome import LOSS, same_curve
from obelics_pipeline.training.experiments.ablate.page import page
from obelics_pipeline.training.experiments.ablate.result import NOTHING, OF_FAILED, result_of
from tests.training.experiments.ablate.experiments import experiment, outcome


def told(first: list[float], second: list[float], **more: object):  # type: ignore[no-untyped-def]
    found = experiment(seeds=[*range(max(len(first), len(second)))], **more)
    outcomes = [outcome("all", seed, loss) for seed, loss in enumerate(first)]
    outcomes += [outcome("long", seed, loss) for seed, loss in enumerate(second)]
    return result_of(found, outcomes, {}, [])


def says(result, figure: str = LOSS) -> str:  # type: ignore[no-untyped-def]
    return next(one.says for one in result.compared if one.figure == figure)


def test_a_difference_that_every_seed_has_is_told_with_its_bounds() -> None:
    found = told([3.0, 3.2, 3.1], [2.9, 3.11, 3.0])
    assert says(found).startswith("long is lower than all by 0.08")


def test_seeds_that_disagree_show_nothing() -> None:
    found = told([3.0, 3.2, 3.1], [2.9, 3.3, 3.1])
    assert says(found) == NOTHING
    assert NOTHING in markdown(found) and NOTHING in page(found)


def test_pairs_are_of_the_same_seed() -> None:
    apart = told([1.0, 2.0, 3.0], [0.9, 1.9, 2.9000001])  # seeds differ tenfold more than arms
    assert "lower" in says(apart)


def test_a_seed_without_its_pair_is_not_compared() -> None:
    outcomes = [outcome("all", 0, 50.0), outcome("all", 1, 3.0), outcome("long", 1, 2.5), outcome("long", 2, 99.0)]
    found = result_of(experiment(seeds=[0, 1, 2]), outcomes, {}, [])
    assert [one.difference.mean for one in found.least] == [-0.5]


def test_one_seed_claims_nothing() -> None:
    found = told([3.0], [1.0])
    assert says(found) == "one seed: nothing can be claimed"
    assert "nothing can be claimed" in found.least_text(found.least[0])


def test_arms_that_are_the_same_in_every_seed_have_no_least_difference() -> None:
    found = told([3.0, 3.2], [3.0, 3.2])
    assert says(found) == "the same in every seed"
    assert found.least_text(found.least[0]).endswith("does not deviate between 2 seeds")


def test_the_least_difference_stands_before_any_claim() -> None:
    found = told([3.0, 3.2, 3.1], [2.9, 3.11, 3.0])
    for text in (markdown(found), page(found)):
        assert 0 < text.index("What these seeds can show") < text.rindex("Differences from all")
        assert text.index("or more with a power of 80%") < text.index("is lower than all")


def test_the_scale_stands_in_the_title_with_its_warning() -> None:
    found = told([3.0, 3.2], [2.9, 3.1])
    for text in (markdown(found), page(found)):
        assert "480 k parameters, 300 k tokens" in text.split("What these seeds")[0]
        assert "100 times the size" in text.split("What these seeds")[0]


def test_what_was_put_in_is_not_compared() -> None:
    assert {one.figure for one in told([3.0, 3.2], [2.9, 3.1]).compared} == {LOSS, "image gain"}


def test_seeds_that_have_no_number_are_counted_out_loud() -> None:
    found = told([3.0, 3.2, 3.1], [2.9, float("nan"), 3.0])
    for text in (markdown(found), page(found)):
        assert text.count("of 2 of 3 seeds") == 2  # the difference, and the arm's mean


def test_restarts_are_compared_bit_by_bit() -> None:
    orders = {"a": {"order": "1234"}, "b": {"order": "1_2_3_4"}}
    one, other = outcome("a", 0, 3.0), outcome("b", 0, 3.0, restarts=3)
    moved = outcome("b", 0, 3.0, exact=[one.exact[0], {**one.exact[1], "loss": 2.0000000000000004}])
    assert (same_curve(one, other), same_curve(one, moved)) == (None, 2)
    found = result_of(experiment(arms=orders), [one, other], {}, [])
    assert "to the last bit" in found.restarts[0] and "with 3" in found.restarts[0]
    found = result_of(experiment(arms=orders), [one, moved], {}, [])
    assert "differ from step 2 on" in found.restarts[0]


def test_the_json_has_no_number_that_json_does_not_have() -> None:
    found = told([3.0, float("nan")], [2.9, 3.1])
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["format"] == "obelics-ablation-1"


def test_names_and_reasons_are_shown_and_do_nothing() -> None:
    found = result_of(experiment(), [outcome("all", 0, 3.0)], {"long, seed 0": "<b>|x|</b>"}, ["long, seed 1"])
    assert "<b>" not in page(found) and "<b>" not in markdown(found)
    assert "not trained yet" in markdown(found)
    assert OF_FAILED in markdown(found) and OF_FAILED in page(found)
