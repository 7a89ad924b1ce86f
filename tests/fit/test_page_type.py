from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.fit.page_type import Example, Judged, calibration, judge_held_out, make_example, table
from obelics_pipeline.models.forest import Forest
from obelics_pipeline.models.page_type import KINDS, PageType, judge
from obelics_pipeline.stages.extract.page_numbers import NAMES
from tests.fit.site import page, paragraphs, write_gold
from tests.refused import refused
from tests.stages.read.warcs import gz, record, write

pytest.importorskip("lightgbm")

COUNT = 20  # pages of each kind, two a domain


def html(kind: int, number: int) -> str:
    """A page whose texts stand in an element that only its kind has."""
    tag = ("p", "pre", "h2", "dd", "h4", "h5", "li")[kind]
    return f"<body><h1>{number}</h1>" + "".join(f"<{tag}>{text}</{tag}>" for text in paragraphs(number))


def url(kind: int, number: int) -> str:
    return f"https://www.site{number // 2}.example/{kind}/{number}"


ROWS = [{"url": url(kind, number), "page_type": KINDS[kind]} for kind in range(7) for number in range(COUNT)]


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = [record(html(kind, number).encode(), url(kind, number)) for kind in range(7) for number in range(COUNT)]
    return write(tmp_path_factory.mktemp("site"), "site.warc.gz", gz(pages))


def fit(warc: Path, gold: Path, output: Path, *more: str) -> int:
    """The command, as a person gives it."""
    given = ["--input", str(warc), "--gold", str(gold), "--output", str(output), "--folds", "2", "--workers", "1"]
    return main(["fit", "page-type", *given, *more])


def test_the_model_tells_pages_it_has_not_seen_and_is_the_same_each_time(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = write_gold(tmp_path, ROWS)
    outputs = [tmp_path / "one.json", tmp_path / "two.json"]
    for output in outputs:
        assert fit(warc, gold, output) == 0
    said = capsys.readouterr().out
    assert "140 pages of 10 domains" in said
    assert "macro F1 100.0, right 100.0" in said
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    forest = Forest.load(outputs[0])
    assert forest.features == NAMES
    for kind, name in enumerate(KINDS):
        example = make_example(page(html(kind, 77), url(kind, 77)), Truth(None, page_type=name))
        assert example is not None
        assert judge(example.numbers, forest).kind == name


def test_pages_whose_kind_is_unknown_are_left_out(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = write_gold(tmp_path, [{"url": url(0, 0), "article_text": "A"}])
    assert "no row with a page_type is of a page" in refused(capsys, fit(warc, gold, tmp_path / "m.json"))


def test_a_kind_without_pages_is_refused(warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_gold(tmp_path, [row for row in ROWS if row["page_type"] != "forum"])
    assert "pages of each kind are needed" in refused(capsys, fit(warc, gold, tmp_path / "m.json"))


def test_a_page_is_judged_by_what_was_learnt_from_other_folds() -> None:
    """In one fold the number of a kind is that of the next one in the other: what a fold says of itself is wrong."""

    def example(fold: int, kind: int) -> Example:
        numbers = np.zeros(len(NAMES), np.float32)
        numbers[:] = (kind + fold) % len(KINDS)
        return Example(f"{fold}.example", numbers, kind)

    examples = [example(fold, kind) for fold in (0, 1) for kind in range(len(KINDS)) for _ in range(COUNT)]
    judged = list(judge_held_out(examples, {"0.example": 0, "1.example": 1}))
    assert len(judged) == len(examples)
    assert not [page for page in judged if page.found.kind == page.kind]


def test_the_table_counts_what_is_told_rightly() -> None:
    judged = [Judged(PageType("article", 0.95), "article")] * 3 + [Judged(PageType("article", 0.6), "forum")]
    lines = list(table(judged))
    assert lines[1].split() == ["article", "3", "75.0", "100.0", "85.7"]
    assert lines[2].split() == ["forum", "1", "0.0", "0.0", "0.0"]
    assert lines[-1] == f"macro F1 {600 / 7 / 7:.1f}, right 75.0"
    assert list(calibration(judged)) == [
        "probability from 0.5: 1 pages, mean 60.0, right 0.0",
        "probability from 0.9: 3 pages, mean 95.0, right 100.0",
    ]
