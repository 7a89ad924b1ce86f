"""One command writes honest and generated documents, the same each time, for other models to learn from."""

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters import Text, build
from obelics_pipeline.fit.farm_detector.families import WEIGHTS
from obelics_pipeline.fit.farm_detector.farm_texts import GENERATED, HONEST, RECORD
from tests.fit.farm_detector.small import THESAURUS, texts


@pytest.fixture
def trusted(tmp_path: Path) -> str:
    path = tmp_path / "trusted.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts()), encoding="utf-8")
    return str(path)


def make(trusted: str, output: Path, *more: str) -> int:
    """The command, as a person gives it."""
    return main(["fit", "farm-texts", "--trusted", trusted, "--output", str(output), "--documents", "81", *more])


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def test_half_of_the_documents_are_honest_and_the_others_say_their_family(trusted: str, tmp_path: Path) -> None:
    assert make(trusted, tmp_path / "made", "--unusual", trusted, "--leave-out", "chains") == 0
    honest, generated = rows(tmp_path / "made" / HONEST), rows(tmp_path / "made" / GENERATED)
    assert [(set(row), row["source"]) for row in honest] == [({"text", "source"}, "honest")] * 40
    assert len(generated) == 41
    assert {row["source"] for row in generated} <= set(WEIGHTS) - {"chains", "translating"}
    assert len({row["text"] for row in (*honest, *generated)}) > 70
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == sorted([HONEST, GENERATED, RECORD])


def test_the_record_says_what_made_them(trusted: str, tmp_path: Path) -> None:
    thesaurus = tmp_path / "th.dat"
    thesaurus.write_text(THESAURUS, "utf-8")
    assert make(trusted, tmp_path / "made", "--thesaurus", str(thesaurus), "--leave-out", "chains") == 0
    about = json.loads((tmp_path / "made" / RECORD).read_text("utf-8"))
    assert about["documents"] == 81
    assert "chains" not in about["families"]
    assert about["words"] == {"th.dat": file_sha256(thesaurus)}
    assert [(file["name"], file["texts"]) for file in about["trusted"]] == [("trusted.jsonl", len(texts()))]
    for name in (HONEST, GENERATED):
        told = about["files"][name]
        assert told["sha256"] == file_sha256(tmp_path / "made" / name)
        assert told["texts"] == Counter(row["source"] for row in rows(tmp_path / "made" / name))
    assert str(tmp_path) not in json.dumps(about)


def test_the_same_texts_give_the_same_bytes(trusted: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert make(trusted, tmp_path / name) == 0
    for name in (HONEST, GENERATED, RECORD):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_neither_torch_nor_lightgbm_is_imported() -> None:
    code = (
        "import sys; import obelics_pipeline.fit.farm_detector.farm_texts; "
        "print(sorted({'torch', 'lightgbm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_classifier_is_fitted_on_them(trusted: str, tmp_path: Path) -> None:
    pytest.importorskip("floret")
    assert make(trusted, tmp_path / "made", "--documents", "600") == 0
    model = str(tmp_path / "model.ftz")
    kinds = ["--positive", str(tmp_path / "made" / HONEST), "--negative", str(tmp_path / "made" / GENERATED)]
    assert main(["fit", "classifier", *kinds, "--features", "2000", "--output", model]) == 0
    scorer = build("quality_score", {"model": model})
    honest, generated = (
        mean(scorer.score(Text(row["text"])) or 0 for row in rows(tmp_path / "made" / name))
        for name in (HONEST, GENERATED)
    )
    assert honest > generated


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--unusual", "missing.jsonl"], r"missing\.jsonl: there is no such file"),
        (["--leave-out", "spining"], "family spining: unknown"),
        (["--leave-out", *WEIGHTS], "no family is left"),
        (["--thesaurus", "missing.dat"], r"missing\.dat: not a MyThes file"),
        (["--dictionary", "a.index", "b.index"], r"[ab]\.index: not dictd's"),
    ],
)
def test_wrong_input_is_one_line(
    trusted: str, more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make(trusted, tmp_path / "made", *more) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(said, line), line
    assert not (tmp_path / "made").exists()


def test_too_few_texts_and_a_file_in_the_place_of_the_folder_are_told(
    trusted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text('{"text": "a b"}\n', encoding="utf-8")
    assert make(str(few), tmp_path / "made") == 2
    assert "1 trusted texts are too few to make others of: give 8 or more" in capsys.readouterr().err
    assert make(trusted, few) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("few.jsonl: File exists")
