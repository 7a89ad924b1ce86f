"""The benchmark of content farms tells the speed of each column and of all together, and what honest pages score."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import content_farms
from obelics_pipeline.core.commit import Attempt
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.site.value import SITE
from tests.models.farm_detector.small import detector

HIGH = "old boat " * 60  # 0.881 by the small detector: most of its words are not distinct
LOW = " ".join(first + second for first in "abcdefghij" for second in "abcdefghij")  # 0.119 by the chat head


def test_it_prints_a_table_for_each_column_and_the_speed_of_all_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    detector().save(tmp_path / "small.npz")
    write_bench(tmp_path / "bench.jsonl")
    columns = ["--columns", "farm_score", "word_count", "--detector", str(tmp_path / "small.npz")]
    monkeypatch.setattr(sys, "argv", ["content_farms", str(tmp_path / "bench.jsonl"), *columns])
    content_farms.main()
    said = capsys.readouterr().out
    assert re.findall(r"^== (\w+): 12 documents, 0 without a score$", said, re.M) == ["farm_score", "word_count"]
    assert len(re.findall(r"^\d+ documents/s of one core, [\d.]+ ms each, [\d.]+ ms for 1,000 words$", said, re.M)) == 2
    together = r"== farm_score \+ word_count: \d+ documents/s of one core, [\d.]+ ms each, [\d.]+ ms for 1,000 words"
    assert re.fullmatch(together, said.splitlines()[-1])


def test_strangers_stand_first_and_have_means_of_their_own(tmp_path: Path, said: Callable[..., str]) -> None:
    known = [{"label": 1, "generator": "spun15", "text": HIGH}, {"label": 0, "generator": "human", "text": LOW}]
    strange = [{"label": 1, "generator": "chained", "text": LOW}, {"label": 0, "generator": "hard_law", "text": HIGH}]
    paths = write(tmp_path / "known.jsonl", known), write(tmp_path / "strange.jsonl", strange)
    lines = said(*paths, "--learned", "spun").splitlines()
    cells = {found[0]: found[1:] for line in lines if len(found := re.split(r" {2,}", line)) > 2}
    assert [name for name in cells if name in ("chained", "spun15")] == ["chained", "spun15"]
    assert [cells[name][-1] for name in ("chained", "spun15", "hard_law")] == ["stranger", "learned", "unusual"]
    assert cells["clean"][0] == "1" and "human" not in cells
    assert cells["learned, known.jsonl"][0] == "1.000"
    assert cells["stranger, strange.jsonl"][0] == "0.000"
    assert cells["unusual, strange.jsonl"][0] == "1.000"
    assert "unusual, known.jsonl" not in cells and "stranger, known.jsonl" not in cells


def test_a_generator_is_judged_by_clean_documents_of_its_domain_else_of_its_file(
    tmp_path: Path, said: Callable[..., str]
) -> None:
    rows = [
        *[{"label": 0, "generator": "human", "domain": "news", "text": HIGH}] * 100,
        *[{"label": 0, "generator": "human", "domain": "law", "text": LOW}] * 300,
        *[{"label": 1, "generator": "talker", "domain": domain, "text": HIGH} for domain in ("news", "law", "art")],
    ]
    others = [
        *[{"label": 0, "generator": "human", "text": LOW}] * 100,
        {"label": 1, "generator": "writer", "domain": "art", "text": HIGH},
    ]
    paths = write(tmp_path / "bench.jsonl", rows), write(tmp_path / "others.jsonl", others)
    lines = said(*paths).splitlines()
    cells = {found[0]: found[1:] for line in lines if len(found := re.split(r" {2,}", line)) > 2}
    assert cells["talker, news"][:2] == ["1", "0.000"]  # all people of this domain score as high
    assert cells["talker, law"][:2] == ["1", "1.000"]
    assert cells["talker, art"][:2] == [
        "1",
        "0.000",
    ]  # nobody wrote of art: a quarter of the file's people score as high
    assert cells["writer, art"][:2] == ["1", "1.000"]  # nobody of this file does
    assert cells["clean, law"][:2] == ["300", "0.000"] and cells["all clean"][0] == "500"
    assert cells["stranger, bench.jsonl"][0] == "0.333"


def test_kept_scores_take_the_place_of_measured_ones_and_the_others_are_added(
    tmp_path: Path, said: Callable[..., str]
) -> None:
    rows = [
        {"id": "a", "label": 1, "generator": "spun", "text": LOW},
        {"id": "b", "label": 0, "generator": "human", "text": LOW},
    ]
    bench, folder = write(tmp_path / "bench.jsonl", rows), tmp_path / "scores"
    folder.mkdir()
    kept = write(folder / "farm_score.jsonl", [{"id": "a", "score": 0.97, "unseen": True}])
    for _ in range(2):
        lines = said(bench, "--scores", str(folder), "--learned", "spun").splitlines()
        assert lines[0].endswith("2 documents, 0 without a score, 1 scored by models that have not seen them")
        assert re.split(r" {2,}", lines[2])[0:3:2] == ["spun", "1.000"] and lines[2].endswith("stranger")
        assert [json.loads(line)["id"] for line in Path(kept).read_text("utf-8").splitlines()] == ["a", "b"]


@pytest.mark.parametrize(
    ("kept", "ids", "wrong"),
    [
        ('{"id": "a"}', "ab", 'farm_score.jsonl: not lines of {"id", "score"}'),
        ("", "aa", "rows without an id, or two with the same one"),
    ],
)
def test_scores_that_belong_to_no_text_are_refused(
    kept: str, ids: str, wrong: str, tmp_path: Path, said: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    bench = write(tmp_path / "bench.jsonl", [{"id": i, "label": 0, "generator": "human", "text": LOW} for i in ids])
    (tmp_path / "farm_score.jsonl").write_text(kept, "utf-8")
    with pytest.raises(SystemExit):
        said(bench, "--scores", str(tmp_path))
    assert wrong in capsys.readouterr().err


def test_a_column_may_be_read_from_its_other_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"label": 1, "generator": "talker", "text": "few"}, {"label": 0, "generator": "human", "text": HIGH}]
    bench = write(tmp_path / "bench.jsonl", rows)
    monkeypatch.setattr(sys, "argv", ["content_farms", bench, "--columns", "word_count", "word_count:low"])
    content_farms.main()
    lines = [line.split()[2] for line in capsys.readouterr().out.splitlines() if line.startswith("talker ")]
    assert lines == ["0.000", "1.000"]


def test_without_options_the_columns_are_those_of_the_models_that_the_package_ships(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kenlm")
    columns = ["perplexity", "worse_than_unigram_ratio", "quality_score", "farm_score"]
    bench = str(write_bench(tmp_path / "bench.jsonl"))
    monkeypatch.setattr(sys, "argv", ["content_farms", bench, "--columns", *columns])
    content_farms.main()
    said = capsys.readouterr().out
    assert re.findall(r"^== (\w+): 12 documents, 0 without a score$", said, re.M) == columns


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Of the benchmark with the small detector, whose threshold is 0.5."""

    def run(*arguments: str) -> str:
        detector().save(tmp_path / "small.npz")
        monkeypatch.setattr(sys, "argv", ["content_farms", *arguments, "--detector", str(tmp_path / "small.npz")])
        content_farms.main()
        return capsys.readouterr().out

    return run


def test_of_honest_pages_it_tells_the_share_above_each_threshold_and_the_highest(
    tmp_path: Path, said: Callable[..., str]
) -> None:
    rows: list[object] = [
        *({"id": f"low{number}", "text": LOW} for number in range(6)),
        *({"id": name, "text": HIGH} for name in ("b", "a")),
        {"id": "english", "text": LOW, "language": "en"},
        {"id": "swedish", "text": HIGH, "language": "sv"},
        {"id": "short", "text": "too short"},
        {"id": "nothing"},
    ]
    assert said("--honest", write(tmp_path / "honest.jsonl", rows)).splitlines() == [
        "== farm_score of honest pages, honest.jsonl: 11 texts; 1 rows skipped: 1 without text: "
        "11 documents, 2 without a score",
        "over 0.500: 0.222 (0.06-0.55), 2 of 9",
        "over 0.950: 0.000 (0.00-0.30), 0 of 9",
        "     0.881  a",
        "     0.881  b",
        "     0.119  english",
        "     0.119  low0",
        "     0.119  low1",
    ]


def test_where_no_page_has_a_score_no_share_is_told(tmp_path: Path, said: Callable[..., str]) -> None:
    (line,) = said("--honest", write(tmp_path / "a.jsonl", [{"text": "too short"}])).splitlines()
    assert line.endswith("1 documents, 1 without a score")


def test_of_a_run_it_takes_the_english_that_was_kept_or_dropped_as_generated_as_it_stood_last(
    tmp_path: Path, said: Callable[..., str]
) -> None:
    folder = RunFolder(tmp_path / "run")
    kept = [page("kept", LOW), page("parted", HIGH), page("swedish", HIGH, language="sv")]
    gone = [
        page("spun", HIGH, "farm_score"),
        page("dull", HIGH, "word_count"),
        page("copy", HIGH),  # dropped as a duplicate: it is not in the index
        page("of-site", HIGH),
    ]
    stage(folder.extract, [*kept, *gone])
    stage(SITE.folder(folder.path), [kept[0], page("parted", LOW), page("of-site", HIGH, "farm_score_in_site")])
    pq.write_table(pa.table({"doc_id": [document.doc_id for document in kept]}), folder.index)
    folder.manifest.write_text("{}")
    lines = said("--run", str(folder.path)).splitlines()
    assert lines[0] == f"== farm_score of honest pages, {folder.path}: 4 documents, 0 without a score"
    assert lines[1] == "over 0.500: 0.500 (0.15-0.85), 2 of 4"
    assert [line.split() for line in lines[3:]] == [
        ["0.881", "of-site"],
        ["0.881", "spun"],
        ["0.119", "kept"],
        ["0.119", "parted"],
    ]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--run", "nowhere"], "--run nowhere: no finished run is there; give the --output of one"),
        (["--honest", "none.jsonl"], "none.jsonl: there is no such file"),
        ([], "nothing to measure: give BENCH.jsonl, --honest FILE.jsonl or --run DIR"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(
    arguments: list[str], wrong: str, said: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        said(*arguments)
    assert caught.value.code == 2
    assert wrong in capsys.readouterr().err.splitlines()[-1]


def page(name: str, text: str, reason: str | None = None, language: str = "en") -> Document:
    return Document(name, f"https://{name}.example/", "a", 0, 1, [TextNode(text)], language=language, reason=reason)


def stage(place: Location, documents: list[Document]) -> None:
    with Attempt(place, Unit("stage", "0" * 16, "u-000000")) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), [], []) as writer:
            for document in documents:
                writer.write(document)
        attempt.commit([])


def write(path: Path, rows: Sequence[object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def write_bench(path: Path) -> Path:
    rows = [
        {
            "id": f"{generator}{number}",
            "label": int(generator == "spun"),
            "generator": generator,
            "text": f"old boat {'house ' * number}" * 60,
        }
        for generator in ("clean", "hard_list", "spun")
        for number in range(4)
    ]
    write(path, rows)
    return path
