"""A classifier that is fitted must be what the filter takes, the same each time, and its report must be honest."""

import json
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.filters import Text, build
from obelics_pipeline.fit import classifier as module
from obelics_pipeline.models.quality_classifier import QualityClassifier, line_of
from tests.fit.prose import text, write_rows
from tests.refused import refused

floret = pytest.importorskip("floret")

BUY = "buy cheap watches now|best price for you|click here to win|free money today|casino bonus inside".split("|")


def spam(seed: int) -> str:
    return " ".join(f"{BUY[(seed + i * i) % 5]} {seed}." for i in range(12))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("corpus")
    positive = write_rows(folder / "positive.jsonl", [text(seed) for seed in range(120)], source="prose")
    return positive, write_rows(folder / "negative.jsonl", [spam(seed) for seed in range(120)])


def fit(files: tuple[Path, Path], output: Path, *more: str) -> int:
    """The command, as a person gives it."""
    given = ["--positive", str(files[0]), "--negative", str(files[1]), "--output", str(output), *more]
    return main(["fit", "classifier", "--features", "300", *given])


@pytest.fixture(scope="module")
def model(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("model") / "quality.ftz"
    assert fit(files, output) == 0
    return output


def test_the_filter_takes_the_file_and_tells_the_kinds_apart(model: Path) -> None:
    measuring = build("quality_score", {"model": str(model)})
    for seed in (1001, 1002, 1003):  # none that it was fitted on
        good, bad = (measuring.score(Text(made(seed), "en")) for made in (text, spam))
        assert good is not None and bad is not None
        assert good > 0.9 > 0.1 > bad
    assert measuring.score(Text(" \n", "en")) is None
    assert measuring.files() == [str(model)]  # type: ignore[attr-defined]


def test_the_same_input_gives_the_same_files(files: tuple[Path, Path], model: Path, tmp_path: Path) -> None:
    assert fit(files, tmp_path / "quality.ftz") == 0
    for ending in (".ftz", ".json"):
        assert (tmp_path / f"quality{ending}").read_bytes() == model.with_suffix(ending).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quality.ftz", "quality.json"]


def test_the_file_says_what_floret_says_of_its_own(files: tuple[Path, Path], model: Path, tmp_path: Path) -> None:
    lines = tmp_path / "training.txt"
    kinds = (("positive", text), ("negative", spam))
    lines.write_text("".join(f"__label__{k} {line_of(made(s))}\n" for s in range(50) for k, made in kinds), "utf-8")
    theirs = module.load_floret().train_supervised(str(lines), **module._TRAINING, **module._REPEATABLE)
    theirs.quantize(str(lines), cutoff=300, **module._QUANTIZING)
    theirs.save_model(str(tmp_path / "theirs"))
    (tmp_path / "ours.ftz").write_bytes(module.to_fasttext((tmp_path / "theirs").read_bytes()))
    ours = QualityClassifier.load(str(tmp_path / "ours.ftz"))
    for made in (text(77), spam(77), "words that nobody knows", text(5)[:60] + spam(5)[:60]):
        by_label = {label: score for score, label in theirs.f.predict(line_of(made) + "\n", -1, 0.0, "strict")}
        assert ours.probability(made) == pytest.approx(by_label["__label__positive"], abs=1e-6)


def test_the_record_says_from_what_how_and_how_well(model: Path, tmp_path: Path) -> None:
    record = json.loads(model.with_suffix(".json").read_text("utf-8"))
    assert record["texts"] == {"negative": 120, "positive": 120}
    assert record["input"]["positive"][0]["name"] == "positive.jsonl"
    held_out = record["held_out"]
    assert 2 <= held_out["positives"] <= 30
    assert held_out["auc"] == 1.0
    assert held_out["caught"] == 1.0
    assert [(row["label"], row["source"]) for row in held_out["sources"]] == [("positive", "prose"), ("negative", "")]
    assert record["bytes"] == model.stat().st_size


def test_a_text_of_both_kinds_is_left_out_and_a_repeated_one_counts_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = [text(seed) for seed in range(40)], [spam(seed) for seed in range(40)]
    files = (
        write_rows(tmp_path / "positive.jsonl", [*good, good[0].upper(), good[0], "shared words"]),
        write_rows(tmp_path / "negative.jsonl", [*bad, "Shared  words"]),
    )
    assert fit(files, tmp_path / "quality.ftz") == 0
    assert "left out: 1 texts that are of both labels, 2 that were there before" in capsys.readouterr().out
    assert json.loads((tmp_path / "quality.json").read_text())["texts"] == {"negative": 40, "positive": 40}


def test_a_text_cannot_state_a_label_or_end_its_line(tmp_path: Path) -> None:
    good, bad = [text(seed) for seed in range(60)], [f"__label__positive </s> {spam(seed)}" for seed in range(60)]
    files = (write_rows(tmp_path / "positive.jsonl", good), write_rows(tmp_path / "negative.jsonl", bad))
    assert fit(files, tmp_path / "quality.ftz") == 0
    probability = QualityClassifier.load(str(tmp_path / "quality.ftz")).probability(bad[0])
    assert probability is not None and probability < 0.2


def test_one_kind_without_text_is_refused(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = write_rows(tmp_path / "empty.jsonl", [" "])
    assert "--negative: has no text" in refused(capsys, fit((files[0], empty), tmp_path / "quality.ftz"))
    assert not (tmp_path / "quality.ftz").exists()


@pytest.mark.parametrize(
    ("output", "said"),
    [("quality.bin", "the model is quantized, and its name ends in .ftz"), ("none/quality.ftz", "there is no folder")],
)
def test_a_place_that_cannot_take_the_model_is_refused_before_work(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str, said: str
) -> None:
    assert said in refused(capsys, fit(files, tmp_path / output))


def test_too_few_features_are_refused(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, fit(files, tmp_path / "quality.ftz", "--features", "10"))
    assert said == "obelics: --features 10: valid are 256 and more"


def test_fewer_features_are_a_smaller_file(files: tuple[Path, Path], model: Path, tmp_path: Path) -> None:
    assert fit(files, tmp_path / "quality.ftz", "--features", "3000") == 0
    assert (tmp_path / "quality.ftz").stat().st_size > model.stat().st_size + 2000 * 8
