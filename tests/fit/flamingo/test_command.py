from __future__ import annotations

import json
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.flamingo.command import COUNTS, RECORD, fit_flamingo
from obelics_pipeline.fit.flamingo.documents import document_of
from obelics_pipeline.fit.flamingo.shape import OPEN, Shape
from obelics_pipeline.models.flamingo.loading import LoadFlamingo
from obelics_pipeline.models.flamingo.scorer import FlamingoScorer
from obelics_pipeline.models.pictures.sources import FolderImages
from tests.models.flamingo.tiny import SENTENCES

SHAPE = Shape(layers=2, width=32, words=300)
ABOUT = {  # two pictures, and what is written under each
    "red": "the oven is hot and the bread in the oven is brown and the kitchen smells of bread",
    "blue": "the ferry is late and the boat in the harbour is old and the sea smells of salt",
}


def url(colour: str) -> str:
    return f"http://pictures.example/{colour}.png"


def row(number: int, colour: str) -> dict[str, Any]:
    """A few words that do not tell which picture it is, the picture, and what is written under it."""
    return {
        "id": f"d{number}",
        "texts": [f"page {number % 3} of the book", None, ABOUT[colour]],
        "images": [None, url(colour), None],
    }


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty documents in lines, and a folder with their two pictures."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("corpus")
    (folder / "images").mkdir()
    for colour in ABOUT:
        out = BytesIO()
        Image.new("RGB", (80, 80), colour).save(out, "PNG")
        (folder / "images" / sha256(url(colour).encode()).hexdigest()).write_bytes(out.getvalue())
    rows = [row(i, Random(i).choice(list(ABOUT))) for i in range(20)]
    (folder / "documents.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return folder


def fit(corpus: Path, output: Path, steps: int) -> list[str]:
    told: list[str] = []
    fit_flamingo([str(corpus / "documents.jsonl")], corpus / "images", output, SHAPE, steps, 1, told.append)
    return told


@pytest.fixture(scope="module")
def fitted(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """After three steps."""
    output = tmp_path_factory.mktemp("models") / "flamingo"
    fit(corpus, output, 3)
    return output


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """After as many as it takes to learn twenty documents by heart, and what was said meanwhile."""
    output = tmp_path_factory.mktemp("models") / "flamingo"
    return output, fit(corpus, output, 120)


def scorer(folder: Path, corpus: Path) -> FlamingoScorer:
    return LoadFlamingo(str(folder), FolderImages(corpus / "images"), unigram=str(folder / COUNTS), device="cpu")()


def documents(*rows: dict[str, Any]) -> list[Document]:
    found = [document_of(one) for one in rows]
    assert all(isinstance(one, Document) for one in found)
    return found  # type: ignore[return-value]


def test_what_is_made_loads_and_gives_every_score(fitted: Path, corpus: Path) -> None:
    (scores,) = scorer(fitted, corpus).score(documents(row(1, "red")))
    assert scores["images_seen"] == 1 and all(value is not None for value in scores.values())


@pytest.mark.slow
def test_the_loss_falls(trained: tuple[Path, list[str]]) -> None:
    losses = [float(line.split("loss ")[1].split(" ")[0]) for line in trained[1] if line.startswith("step ")]
    assert len(losses) == 20 and losses[-1] < losses[0] - 2


def test_the_model_that_is_loaded_is_the_one_that_was_trained(fitted: Path, corpus: Path) -> None:
    record = json.loads((fitted / RECORD).read_text())
    held_out = [json.loads(line) for line in (corpus / "documents.jsonl").read_text().splitlines()][10:11]
    (scores,) = scorer(fitted, corpus).score(documents(*held_out))
    assert record["held_out"]["documents"] == 1
    for name in ("flamingo_loss", "flamingo_image_gain", "flamingo_worse_than_unigram"):
        assert scores[name] == pytest.approx(record["held_out"][name], abs=1e-3)


@pytest.mark.slow
def test_the_gates_have_moved_and_the_right_image_makes_its_text_more_likely(
    trained: tuple[Path, list[str]], corpus: Path
) -> None:
    gates = json.loads((trained[0] / RECORD).read_text())["gates"]
    assert all(abs(gate - np.tanh(OPEN)) > 0.001 for gate in gates)
    model = scorer(trained[0], corpus)
    for colour, other in (("red", "blue"), ("blue", "red")):
        right, wrong = row(0, colour), row(0, colour) | {"images": [None, url(other), None]}
        with_right, with_wrong = model.score(documents(right, wrong))
        assert with_right["flamingo_image_gain"] > 0
        assert with_right["flamingo_loss"] < with_wrong["flamingo_loss"] - 0.02


def test_the_vision_tower_learns_too(fitted: Path) -> None:
    from safetensors.torch import load_file

    from obelics_pipeline.fit.flamingo.shape import tokenizer_of, untrained

    start = untrained(SHAPE, tokenizer_of(ABOUT.values(), 300)).model.flamingo.vision_encoder.state_dict()
    ended = load_file(fitted / "vision.safetensors")
    assert any(not torch.equal(start[name], ended[name]) for name in ended if name.endswith("conv1.weight"))


def test_the_same_documents_give_the_same_bytes(fitted: Path, corpus: Path, tmp_path: Path) -> None:
    fit(corpus, tmp_path / "other", 3)
    files = sorted(p.relative_to(fitted) for p in fitted.rglob("*") if p.is_file())
    assert {"flamingo.json", COUNTS, RECORD} < {str(name) for name in files}
    for name in files:
        assert (fitted / name).read_bytes() == (tmp_path / "other" / name).read_bytes(), name


def test_without_images_it_learns_from_text_alone(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": sentence}) + "\n" for sentence in SENTENCES))
    fit_flamingo([str(path)], None, tmp_path / "model", SHAPE, 2, 1, lambda _line: None)
    record = json.loads((tmp_path / "model" / RECORD).read_text())
    assert (record["documents"], record["pictures"], record["held_out"]) == (3, 0, {"documents": 0})


def test_the_command_line_says_in_one_line_what_is_wrong(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "a").write_text("")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    good, new = str(corpus / "documents.jsonl"), str(tmp_path / "new")
    for arguments, message in (
        ([good, "--output", str(there)], "is there already"),
        ([good, "--output", str(tmp_path / "a" / "b")], "there is no folder"),
        ([good, "--output", new, "--layers", "1"], "--layers 1: valid are 2 and more"),
        ([good, "--output", new, "--width", "100"], "--width 100: valid are multiples of 32"),
        ([good, "--output", new, "--words", "256"], "--words 256: valid are 300 and more"),
        ([good, "--output", new, "--images", str(tmp_path / "none")], "no folder"),
        ([str(there), "--output", new], "no finished run"),
        ([str(empty), "--output", new], "the files have no text to train on"),
    ):
        assert main(["fit", "flamingo", "--documents", *arguments]) == 2
        said = capsys.readouterr().err
        assert message in said and said.count("\n") == 1
    assert not Path(new).exists()


def test_a_missing_package_is_told_in_one_line(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "open_flamingo", None)
    with pytest.raises(UserError, match="no module open_flamingo; pip install"):
        fit(corpus, tmp_path / "model", 1)


@pytest.mark.slow
def test_the_demo_s_documents_make_a_model(tmp_path: Path) -> None:
    from obelics_pipeline.demo.run import run_demo

    assert run_demo(tmp_path / "demo") == 0
    told: list[str] = []
    fit_flamingo([str(tmp_path / "demo")], None, tmp_path / "model", SHAPE, 5, 1, told.append)
    record = json.loads((tmp_path / "model" / RECORD).read_text())
    assert record["documents"] > 40 and record["pictures"] > 100
    assert record["held_out"]["flamingo_loss"] < 6
