"""A model that is fitted must be what the filters take, the same each time; what is missing is said in one line."""

import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.filters import Text, build
from obelics_pipeline.models.lmplz import NAMES
from tests.fit.prose import shuffled, text, write_rows
from tests.refused import refused

pytest.importorskip("kenlm")
pytest.importorskip("sentencepiece")

TEXTS = [text(seed) for seed in range(60)]

with_lmplz = pytest.mark.skipif(
    any(shutil.which(name) is None for name in NAMES), reason="no lmplz here; docs/perplexity.md says how to build it"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", TEXTS)


def fit(corpus: Path, output: Path, *more: str) -> int:
    """The command, as a person gives it."""
    options = ["--pieces", "120", "--order", "3", "--memory", "100M", *more]
    return main(["fit", "kenlm", "--input", str(corpus), "--output", str(output), *options])


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@with_lmplz
def test_the_filters_take_the_folder_and_tell_order_from_disorder(corpus: Path, tmp_path: Path) -> None:
    assert fit(corpus, tmp_path) == 0
    for name in ("perplexity", "worse_than_unigram_ratio"):
        measuring = build(name, {"folder": str(tmp_path)})
        for seed in (1001, 1002, 1003):  # none that it was fitted on
            ordered, in_disorder = (measuring.score(Text(made(seed), "en")) for made in (text, shuffled))
            assert ordered is not None and in_disorder is not None
            assert ordered < in_disorder / 2


@with_lmplz
def test_the_same_input_gives_the_same_files_whatever_the_memory(corpus: Path, tmp_path: Path) -> None:
    assert fit(corpus, tmp_path / "one") == 0
    assert fit(corpus, tmp_path / "two", "--memory", "200M") == 0
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert list(bytes_of(tmp_path / "one")) == ["en.arpa.bin", "en.json", "en.sp.model"]


@with_lmplz
def test_the_form_of_the_corpus_makes_no_difference(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(corpus.read_bytes()))
    pq.write_table(pa.table({"texts": [[None, *made.split("\n\n")] for made in TEXTS]}), tmp_path / "a.parquet")
    found = []
    for number, path in enumerate([corpus, tmp_path / "a.jsonl.gz", tmp_path / "a.parquet"]):
        assert fit(path, tmp_path / str(number)) == 0
        made = bytes_of(tmp_path / str(number))
        found.append((made["en.arpa.bin"], made["en.sp.model"]))
    assert found[0] == found[1] == found[2]


@with_lmplz
def test_the_record_says_from_what_and_how(corpus: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(corpus.read_text("utf-8") + "{\n{}\n", "utf-8")
    assert fit(damaged, tmp_path / "out", "--language", "nl", "--prune", "0", "0", "1") == 0
    record = json.loads((tmp_path / "out" / "nl.json").read_text("utf-8"))
    assert record["settings"] == {"language": "nl", "order": 3, "pieces": 120, "prune": [0, 0, 1]}
    (account,) = record["input"]
    assert (account["name"], account["texts"]) == ("damaged.jsonl", 60)
    assert account["passed_over"] == {"not JSON": 1, "without text": 1}
    assert set(record["files"]) == {"nl.arpa.bin", "nl.sp.model"}
    assert str(tmp_path) not in json.dumps(record)


@with_lmplz
def test_pruning_leaves_rare_ngrams_out_and_no_single_piece(corpus: Path, tmp_path: Path) -> None:
    assert fit(corpus, tmp_path / "all") == 0
    assert fit(corpus, tmp_path / "pruned", "--prune", "0", "3") == 0
    whole, pruned = (json.loads((tmp_path / name / "en.json").read_text())["ngrams"] for name in ("all", "pruned"))
    assert whole["1"] == pruned["1"]
    assert pruned["3"] < whole["3"]


@with_lmplz
def test_a_tiny_corpus_gets_a_model_too_and_says_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit(write_rows(tmp_path / "a.jsonl", [text(1, 2), "</s> <s> <unk> <s>"]), tmp_path / "out") == 0
    assert "too little text to estimate the discounts" in capsys.readouterr().out
    assert build("perplexity", {"folder": str(tmp_path / "out")}).score(Text("the old harbour", "en"))


def test_a_missing_lmplz_is_one_line_that_says_where_to_get_it(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = refused(capsys, fit(corpus, tmp_path / "out"))
    assert "no lmplz and no build_binary on the PATH" in said
    assert "docs/perplexity.md" in said
    assert not (tmp_path / "out").exists()


def test_a_program_that_fails_is_told_by_its_last_words(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in NAMES:
        (tmp_path / name).write_text("#!/bin/sh\necho reading >&2\necho 'out of  disk' >&2\nexit 3\n")
        (tmp_path / name).chmod(0o755)
    said = refused(capsys, fit(corpus, tmp_path / "out", "--programs", str(tmp_path)))
    assert said == "obelics: lmplz failed with exit code 3: out of disk"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--order", "7"), "--order 7: valid are 2 to 6"),
        (("--order", "1"), "--order 1: valid are 2 to 6"),
        (("--prune", "1"), "single pieces are never pruned"),
        (("--prune", "0", "2", "1"), "--prune 0 2 1: up to 3 whole numbers that do not fall"),
        (("--prune", "0", "0", "0", "0"), "up to 3 whole numbers"),
        (("--language", "../en"), "--language ../en: not a language code"),
        (("--memory", "much"), "--memory much: not a size"),
    ],
)
def test_a_setting_that_makes_no_model_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, fit(corpus, tmp_path / "out", *options))


@with_lmplz
@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [(["..."[:0]], (), "has no text to train on"), (TEXTS[:3], ("--pieces", "3"), "--pieces 3: SentencePiece")],
)
def test_a_corpus_that_nothing_can_be_learned_from_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[str], options: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, fit(write_rows(tmp_path / "a.jsonl", rows), tmp_path / "out", *options))
