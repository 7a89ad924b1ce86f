from __future__ import annotations

import json
import multiprocessing
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan import form
from obelics_pipeline.training.plan.form import FILES
from obelics_pipeline.training.plan.plan_file import Plan, open_plan

from .planned import planned


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planned(tmp_path_factory.mktemp("plan") / "plan").path


def test_rows_and_spans_agree_with_their_sums(folder: Path) -> None:
    plan = open_plan(folder)
    arrays = plan.arrays()
    first = 0
    for number in range(plan.n_rows):
        row = plan.row(number)
        assert row.first_span == first
        assert [plan.span(first + i) for i in range(len(row.spans))] == list(row.spans)
        first += len(row.spans)
        assert row.n_tokens == sum(s.token_stop - s.token_start + (s.token_start > 0) for s in row.spans)
        assert row.n_images == sum(s.image_stop - s.image_start for s in row.spans) <= plan.images_per_row
        assert row.n_tokens <= plan.sequence_tokens
        assert {plan.document(s.document).dataset for s in row.spans} == {row.dataset}
    assert first == len(arrays.spans)
    assert plan.steps == -(-plan.n_rows // plan.rows_per_step) == plan.about["steps"]
    with pytest.raises(IndexError):
        plan.row(plan.n_rows)
    with pytest.raises(IndexError):
        plan.row(-1)


def test_held_out_rows_are_apart(folder: Path) -> None:
    plan = open_plan(folder)
    assert plan.held_out is not None
    held = {s.document for i in range(plan.held_out.n_rows) for s in plan.held_out.row(i).spans}
    assert {plan.held_out.document(n).reason for n in held} == {"held_out"}
    assert held.isdisjoint(s.document for i in range(plan.n_rows) for s in plan.row(i).spans)


def test_many_batches_read_as_one(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = open_plan(folder)
    rows, documents = [whole.row(i) for i in range(whole.n_rows)], [whole.document(i) for i in range(150)]
    monkeypatch.setattr(form, "BATCH", 7)
    monkeypatch.setattr("obelics_pipeline.training.plan.plan_file.BATCH", 7)
    part = planned(tmp_path / "plan")
    assert part.documents.table["doc_id"].num_chunks > 5
    assert [part.row(i) for i in range(part.n_rows)] == rows
    assert [part.document(i) for i in range(150)] == documents


def test_a_plan_goes_to_other_processes(folder: Path) -> None:
    plan = open_plan(folder)
    assert len(pickle.dumps(plan)) < 1000
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(plan.row, range(8)) == [plan.row(i) for i in range(8)]


def test_another_plan_in_its_place_is_not_taken_for_it(folder: Path, tmp_path: Path) -> None:
    pickled = pickle.dumps(planned(tmp_path / "plan"))
    planned(tmp_path / "plan", seed=1)
    with pytest.raises(UserError, match="another plan was written there meanwhile"):
        pickle.loads(pickled)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", [_cut, _flip, Path.unlink])
def test_a_damaged_plan_is_refused_by_the_name_of_the_file(
    folder: Path, tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    shutil.copytree(folder, tmp_path / "plan")
    damage(tmp_path / "plan" / name)
    with pytest.raises(UserError, match="make the plan again") as caught:
        open_plan(tmp_path / "plan")
    assert str(tmp_path / "plan" / name) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "obelics-plan-9"}, "format 'obelics-plan-9', this version reads obelics-plan-1"),
        ({"rows_per_step": 3}, "was changed after the plan was made"),
    ],
)
def test_an_edited_plan_is_refused(folder: Path, tmp_path: Path, change: dict[str, object], message: str) -> None:
    shutil.copytree(folder, tmp_path / "plan")
    path = tmp_path / "plan/plan.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UserError, match=message):
        open_plan(tmp_path / "plan")


def test_a_folder_without_a_plan_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no plan is there \(plan.json is missing\)"):
        open_plan(tmp_path)


def test_a_plan_that_could_not_be_written_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(tmp_path / "plan")
    puts: list[Path] = []

    def full(path: Path, target: Path) -> None:
        puts.append(target)
        if len(puts) == 3:
            raise OSError(28, "No space left on device")
        shutil.move(path, target)

    monkeypatch.setattr(form, "put", full)
    with pytest.raises(UserError, match="No space left on device"):
        planned(tmp_path / "plan", seed=1)
    with pytest.raises(UserError, match="no plan is there"):
        open_plan(tmp_path / "plan")
    monkeypatch.undo()
    assert isinstance(planned(tmp_path / "plan", seed=1), Plan)
    assert sorted(path.name for path in (tmp_path / "plan").iterdir()) == [
        "documents.arrow", "held_out", "plan.json", "rows.arrow", "spans.arrow",
    ]  # fmt: skip


def test_images_and_tokens_of_arrays_are_those_of_rows(folder: Path) -> None:
    plan = open_plan(folder)
    arrays = plan.arrays()
    assert arrays.n_tokens.tolist() == [plan.row(i).n_tokens for i in range(plan.n_rows)]
    assert arrays.take(np.array([3, 1, 3])).n_images.tolist() == [plan.row(i).n_images for i in (3, 1, 3)]
