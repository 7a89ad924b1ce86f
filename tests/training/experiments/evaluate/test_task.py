"""Tasks: how they are read, asked, and compared with what a plan trains on."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.document_tokens import document_tokens, open_vocabulary
from obelics_pipeline.training.experiments.evaluate.contamination import contamination, phash_in
from obelics_pipeline.training.experiments.evaluate.registry import CAPABILITIES, KNOWN
from obelics_pipeline.training.experiments.evaluate.rows import question_row
from obelics_pipeline.training.experiments.evaluate.task import ABOUT, EXAMPLES, Task, read_task
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.train.stored_rows import read_members_of
from tests.training.train.coloured import COLOURS, TEMPLATES, make_task, picture

PAPERS = {
    "VQAv2", "OKVQA", "TextVQA", "VizWiz", "TextCaps", "COCO", "NoCaps", "Flickr30k", "VisDial", "HatefulMemes",
    "ScienceQA", "RenderedSST2", "Winoground",
}  # fmt: skip


def changed(folder: Path, number: int, **values: Any) -> Task:
    """The task with another example in the place of one."""
    path = folder / EXAMPLES
    examples = [json.loads(line) for line in path.read_text().splitlines()]
    examples[number] |= values
    path.write_text("".join(json.dumps(example) + "\n" for example in examples))
    return read_task(folder)


def test_the_tasks_that_papers_report_are_known_with_shots_and_capabilities() -> None:
    assert KNOWN.keys() == PAPERS
    for known in KNOWN.values():
        assert set(known.capabilities) <= set(CAPABILITIES) and known.capabilities
        assert len(known.templates) >= 3 and all(t.endswith("{answer}") for t in known.templates)
    assert KNOWN["VQAv2"].shots == (0, 4, 8, 16, 32)
    assert {"detail", "hallucination", "counting", "ocr"} <= {c for k in KNOWN.values() for c in k.capabilities}


def test_a_known_task_need_only_say_its_name(tmp_path: Path) -> None:
    folder = make_task(tmp_path, name="VizWiz")
    (folder / ABOUT).write_text('{"name": "VizWiz", "shots": [0, 8]}')
    task = read_task(folder)
    assert task.about.templates == KNOWN["VizWiz"].templates
    assert task.about.capabilities == KNOWN["VizWiz"].capabilities
    assert task.about.shots == (0, 8)


def test_a_prompt_is_laid_out_as_documents_are_and_the_answer_alone_is_scored(coloured: Path, tmp_path: Path) -> None:
    vocabulary = open_vocabulary(coloured / "parts/language_model")
    task = read_task(make_task(tmp_path))
    example = task.asked[0]
    row = question_row(task, example, "red", 2, TEMPLATES[1], vocabulary, 32)
    texts = [f"A picture of {one.choices[one.answer]}" for one in task.shots(example, 2)] + ["A picture of red"]
    record = {
        "texts": [x for text in texts for x in (None, text)],
        "files": [x for i in range(3) for x in (f"{i}.png", None)],
    }
    laid = document_tokens(record, vocabulary)
    (span,) = row.spans
    assert span.ids.tolist() == laid.ids[:-1].tolist()  # all but the end of the document
    assert span.image_of.tolist() == laid.image_of[:-1].tolist()
    answer = [*vocabulary.encode(" red"), vocabulary.end_of_chunk]
    assert span.ids[span.targets].tolist() == answer
    assert len(row.pictures) == 3


def test_shots_are_never_the_question_and_more_begin_with_the_same(tmp_path: Path) -> None:
    task = read_task(make_task(tmp_path))
    assert not {one.id for one in task.shown} & {one.id for one in task.asked}
    for example in task.asked:
        four, eight = task.shots(example, 4), task.shots(example, 8)
        assert eight[:4] == four
        assert len({one.id for one in eight}) == 8
    assert len({tuple(one.id for one in task.shots(example, 4)) for example in task.asked}) > 1


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"templates": ["Caption: {answer}"]}, "1 templates; give 3 or more"),
        ({"templates": ["{answer} it is", *TEMPLATES]}, "must end with {answer}"),
        ({"capabilities": ["telepathy"]}, "no capability 'telepathy'; there are: caption, "),
        ({"shots": [0, 16]}, '8 examples with "shot": true, and 16 shots are wanted'),
    ],
)
def test_a_task_that_cannot_be_asked_is_refused_in_one_line(tmp_path: Path, about: dict[str, Any], said: str) -> None:
    folder = make_task(tmp_path, **about)
    with pytest.raises(UserError) as error:
        read_task(folder)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_another_image_makes_another_task(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    before = read_task(folder).sha256
    (folder / "0.png").write_bytes((folder / "1.png").read_bytes())
    assert read_task(folder).sha256 != before
    (folder / "0.png").unlink()
    with pytest.raises(UserError, match=r"0\.png: cannot be read"):
        read_task(folder)


def test_an_image_that_is_trained_on_is_found_in_another_size_and_format(coloured: Path, tmp_path: Path) -> None:
    from PIL import Image

    plan = open_plan(coloured / "plan")
    task = read_task(make_task(tmp_path))
    assert not contamination([task], plan)["colours"]["contaminated"]
    number = plan.row(0).spans[0].document
    _, files = read_members_of(plan.document(number))
    (tmp_path / "page.png").write_bytes(files[0])
    with Image.open(tmp_path / "page.png") as image:
        image.resize((96, 96), Image.Resampling.LANCZOS).convert("RGB").save(tmp_path / "3.jpg", quality=90)
    found = contamination([changed(tmp_path, 3, image="3.jpg")], plan)["colours"]
    assert found["contaminated"] and found["images"] == ["3"] and found["share"] == 1 / 20


def test_a_text_that_is_trained_on_is_found_within_a_document(coloured: Path, tmp_path: Path) -> None:
    plan = open_plan(coloured / "plan")
    record, _ = read_members_of(plan.document(plan.row(0).spans[0].document))
    words = " ".join(text for text in record["texts"] if text)
    task = make_task(tmp_path)
    colour = words.split()[-1]
    found = contamination(
        [changed(task, 5, question=words.rpartition(" ")[0], choices=[colour, "mauve"], answer=0)], plan
    )
    assert found["colours"]["texts"] == ["5"]
    held_out = plan.held_out
    assert held_out is not None
    record, _ = read_members_of(plan.document(held_out.row(0).spans[0].document))
    unseen = "a sentence that no document of this plan has in it at all"
    assert not contamination([changed(task, 5, question=unseen)], plan)["colours"]["contaminated"]


def test_pictures_of_one_colour_are_no_copies_of_each_other() -> None:
    from PIL import Image

    looks = []
    for colour in COLOURS.values():
        out = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(out, "PNG")
        looks.append(phash_in(out.getvalue()))
    assert looks == [None] * len(COLOURS)
    assert phash_in(picture("red", 1)) != phash_in(picture("red", 2)) is not None
    assert phash_in(b"no image") is None


def test_wordings_that_differ_and_capabilities_of_examples_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first wording is answered rightly, the second by half, the third never."""
    from types import SimpleNamespace

    from obelics_pipeline.training.experiments.evaluate import few_shot as module

    folder = make_task(tmp_path, asked=4)
    task = changed(folder, 0, capabilities=["counting"])
    asked = [one.answer for one in task.asked]
    rights = {TEMPLATES[0]: [True] * 4, TEMPLATES[1]: [True, True, False, False], TEMPLATES[2]: [False] * 4}
    said: list[float] = []

    def row(task: Task, example: Any, choice: str, shots: int, template: str, *_: Any) -> Any:
        place = [one.id for one in task.asked].index(example.id)
        is_right = example.choices.index(choice) == asked[place]
        said.append(0.0 if is_right == rights[template][place] else 1.0)
        return SimpleNamespace(spans=[SimpleNamespace(ids=[0])])

    monkeypatch.setattr(module, "question_row", row)
    monkeypatch.setattr(module, "losses_of", lambda rows, *_: [said.pop(0) for _ in rows])
    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(max_position_embeddings=8))
    model = SimpleNamespace(
        vocabulary=None, vision=SimpleNamespace(side=0), language_model=SimpleNamespace(config=config)
    )
    found = module.few_shot(model, task, (0,))["shots"]["0"]  # type: ignore[arg-type]
    assert found["templates"] == [1.0, 0.5, 0.0]
    assert (found["accuracy"], found["spread"]) == (0.5, 1.0)
    assert found["capabilities"] == {
        "caption": pytest.approx(4 / 9),
        "colour": pytest.approx(4 / 9),
        "counting": pytest.approx(2 / 3),
    }
