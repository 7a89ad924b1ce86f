"""`obelics fit chat-detector`: what it writes and tells, and what it refuses."""

import json
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters import Text, build
from obelics_pipeline.models.chat_detector.detector import ChatDetector, load_without_model
from tests.fit.chat_detector.small import write_texts
from tests.models.arpa import write_models

pytest.importorskip("lightgbm")


def fit(output: Path, texts: Path, folder: Path, *more: str) -> int:
    command = ["fit", "chat-detector", "--input", str(texts), "--kenlm", str(folder), "--output", str(output)]
    return main([*command, *more])


@pytest.mark.slow
def test_it_finds_machines_and_domains_that_it_has_not_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, texts = write_models(tmp_path / "kenlm"), write_texts(tmp_path / "texts.jsonl")
    assert fit(tmp_path / "a.npz", texts, folder, "--unseen", str(tmp_path / "unseen.jsonl")) == 0
    said = capsys.readouterr().out
    for generator in ("talker", "writer"):
        for domain in ("news", "reviews", "stories"):
            assert f"{generator} on {domain}, neither seen: 1.000 (0.94 to 1.00) of 60 found" in said
    unseen = [json.loads(line) for line in (tmp_path / "unseen.jsonl").read_text("utf-8").splitlines()]
    assert len(unseen) == 540 and all(one["unseen"] for one in unseen)
    assert all((one["score"] > 0.5) == ("people" not in one["id"]) for one in unseen)
    about = ChatDetector.load(tmp_path / "a.npz").about
    assert about["texts"] == {"people": 180, "talker": 180, "writer": 180}
    assert about["kenlm"]["en.arpa.bin"] == file_sha256(folder / "en.arpa.bin")
    score = build("chat_score", {"paths": {"en": str(tmp_path / "a.npz")}, "folder": str(folder)})
    fresh = [json.loads(line) for line in write_texts(tmp_path / "fresh.jsonl", seed=2).read_text("utf-8").splitlines()]
    scores = [(row["label"], score.score(Text(row["text"], "en")) or 0.0) for row in fresh]
    assert min(value for label, value in scores if label) > max(value for label, value in scores if not label)


@pytest.mark.slow
def test_without_a_language_model_it_learns_from_words_and_style(tmp_path: Path) -> None:
    texts = write_texts(tmp_path / "texts.jsonl")
    command = ["fit", "chat-detector", "--input", str(texts), "--without-kenlm", "--output", str(tmp_path / "a.npz")]
    assert main(command) == 0
    detector = load_without_model(str(tmp_path / "a.npz"))
    rows = [json.loads(line) for line in write_texts(tmp_path / "fresh.jsonl", seed=2).read_text("utf-8").splitlines()]
    scores = [(row["label"], detector.score(row["text"], None) or 0.0) for row in rows]
    assert min(value for label, value in scores if label) > max(value for label, value in scores if not label)


@pytest.mark.slow
def test_the_same_texts_give_the_same_bytes(tmp_path: Path) -> None:
    folder, texts = write_models(tmp_path / "kenlm"), write_texts(tmp_path / "texts.jsonl", each=20)
    for name in ("a.npz", "b.npz"):
        assert fit(tmp_path / name, texts, folder, "--trusted", str(texts)) == 0
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        (["--generators", "nobody"], "texts of both people and machines are needed"),
        (["--language", "de"], "de.arpa.bin"),
        (["--trusted", "none.jsonl"], "none.jsonl: there is no such file"),
    ],
)
def test_what_cannot_be_learned_from_is_told_in_one_line(
    more: list[str], wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, texts = write_models(tmp_path / "kenlm"), write_texts(tmp_path / "texts.jsonl", each=4)
    assert fit(tmp_path / "a.npz", texts, folder, *more) == 2
    assert wrong in capsys.readouterr().err
    assert not (tmp_path / "a.npz").exists()
