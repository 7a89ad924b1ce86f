"""Plans of an experiment: equal tokens, the clean documents apart, orders of one plan."""

from pathlib import Path
from statistics import median

import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.experiments.ablate.arms import clean_recipe, recipe_of
from obelics_pipeline.training.experiments.ablate.experiment import Half
from obelics_pipeline.training.experiments.ablate.plans import (
    Planned,
    in_order,
    plan_of,
    refuse_other_words,
    refuse_seen,
    refuse_unequal,
    threshold_of,
)
from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.plan.recipe import Recipe
from tests.training.experiments.ablate.experiments import experiment, make_runs
from tests.training.train.trainable import make_parts


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, str], Path]:
    folder = tmp_path_factory.mktemp("ablate")
    return folder, make_runs(folder), make_parts(folder / "parts")[0]


def planned(runs: tuple[Path, tuple[str, str], Path], name: str, seed: int = 0, **more: object) -> Planned:
    folder, (web, wiki), words = runs
    found = experiment(**more)
    recipe = recipe_of(found, name, seed, words)
    datasets = {
        key: of.model_copy(update={"runs": ({"web": web, "wiki": wiki}[key],)}) for key, of in recipe.datasets.items()
    }
    recipe = recipe.model_copy(update={"datasets": datasets})
    plan = plan_of(recipe, folder / f"{name}-{seed}-{len(more)}", folder / "counts", 1, lambda _: None)
    return in_order(plan, found.arms[name].order, folder / f"orders-{name}-{seed}")


def clean(runs: tuple[Path, tuple[str, str], Path], **more: object) -> Plan:
    folder, (web, wiki), words = runs
    recipe = clean_recipe(experiment(**more), words)
    datasets = {
        key: of.model_copy(update={"runs": ({"web": web, "wiki": wiki}[key],)}) for key, of in recipe.datasets.items()
    }
    changed = recipe.model_copy(update={"datasets": datasets})
    return plan_of(changed, folder / f"clean-{len(more)}", folder / "counts", 1, lambda _: None)


def test_arms_have_equal_tokens_of_fewer_documents_more_often(runs: tuple[Path, tuple[str, str], Path]) -> None:
    base, arm = planned(runs, "all"), planned(runs, "long")
    refuse_unequal({("all", 0): base, ("long", 0): arm}, 1600)
    assert abs(base.tokens - arm.tokens) <= 96
    epochs = [next(d["epochs"] for d in one.plan.about["datasets"] if d["name"] == "web") for one in (base, arm)]
    assert epochs[0] < epochs[1]


def test_an_arm_that_runs_out_is_refused(runs: tuple[Path, tuple[str, str], Path]) -> None:
    base, arm = planned(runs, "all", tokens=400_000), planned(runs, "all")
    with pytest.raises(UserError, match=r"no equal terms; raise datasets\.\*\.repeat"):
        refuse_unequal({("all", 0): base}, 400_000)
    with pytest.raises(UserError, match="arm long, seed 0: its plan has"):
        refuse_unequal({("all", 0): base, ("long", 0): arm}, base.tokens)


def test_a_plan_that_is_there_is_taken(runs: tuple[Path, tuple[str, str], Path]) -> None:
    first = planned(runs, "all").plan.path / "plan.json"
    before = first.stat().st_mtime_ns
    planned(runs, "all")
    assert first.stat().st_mtime_ns == before


def test_no_arm_trains_on_a_clean_document(runs: tuple[Path, tuple[str, str], Path]) -> None:
    held = clean(runs)
    refuse_seen("all", planned(runs, "all").plan, held)
    recipe = Recipe.model_validate(held.about["recipe"] | {"held_out": 0.5, "seed": 3})
    other = plan_of(recipe, runs[0] / "half", runs[0] / "counts", 1, lambda _: None)
    with pytest.raises(UserError, match=r"arm all: trains on \d+ of the documents that it is measured on"):
        refuse_seen("all", planned(runs, "all").plan, other)


def test_tokenizers_must_be_the_same(runs: tuple[Path, tuple[str, str], Path]) -> None:
    one, other = planned(runs, "all").plan, clean(runs)
    refuse_other_words([("clean", one), ("arm all", other)])
    other.about["tokenizer"] = other.about["tokenizer"] | {"sha256": "0"}
    with pytest.raises(UserError, match="arm all and clean have different tokenizers"):
        refuse_other_words([("clean", one), ("arm all", other)])


def test_orders_are_of_one_plan(runs: tuple[Path, tuple[str, str], Path]) -> None:
    arms = {"a": {"order": "1234"}, "b": {"order": "1_2_3_4"}, "c": {"order": "1_1_1_1"}}
    whole, parted, again = (planned(runs, name, arms=arms) for name in arms)
    assert whole.plan.id == parted.plan.id
    assert whole.goes == (parted.goes[-1],) == (again.goes[-1],)
    size = parted.goes[0]
    assert parted.goes == again.goes == (size, 2 * size, 3 * size, 4 * size)
    rows = size * whole.plan.rows_per_step
    spans = [[s.document for s in again.plan.row(n).spans] for n in range(4 * rows)]
    assert spans == 4 * [[s.document for s in whole.plan.row(n).spans] for n in range(rows)]


def test_half_is_the_median_of_a_column(runs: tuple[Path, tuple[str, str], Path]) -> None:
    recipe = Recipe.model_validate(planned(runs, "all").plan.about["recipe"])
    indexes = [pq.read_table(Path(run) / "index.parquet")["n_texts"].to_pylist() for run in runs[1]]
    middle = median(value for index in indexes for value in index)
    assert threshold_of(Half(column="n_texts"), recipe) == {"n_texts": {"min": middle, "if_missing": "drop"}}
    assert threshold_of(Half(column="n_texts", keep="low"), recipe)["n_texts"]["max"] == middle
    with pytest.raises(UserError, match="no such column"):
        threshold_of(Half(column="n_text"), recipe)
