"""A spike is led back to the pages that made it; what the web wrote in them does nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import Document, Node, TextNode
from obelics_pipeline.core.html.templates import sha256_of
from obelics_pipeline.training.diagnosis.loss_diagnosis import explain_spike
from obelics_pipeline.training.diagnosis.training_run import TrainingRun
from tests.inspect.explain.hostile import Elements
from tests.stages.shard.runs import document, drawn_nodes, image, make_run
from tests.training.diagnosis.made import ROWS_PER_STEP, Made, make_plan

N, BAD, STEP = 400, 330, 42  # documents; the bad one, and the step that has it
HOSTILE = (
    "</blockquote><script>x()</script><img src=http://evil.example/a.gif onerror=x()> {{ 7 * 7 }} \x1b[2J\u202egpj"
)


def documents() -> list[Document]:
    """Ordinary ones, and one that tries to get out of what shows it; its word count is far from all others."""
    found = []
    for number in range(N):
        one = document(number, drawn_nodes(number % 50))
        one.scores = {"word_count": 50.0 + number % 60, "perplexity": 0.1 + number % 7}
        found.append(one)
    nodes: list[Node] = [TextNode(HOSTILE), image(3), TextNode("of a cat " * 400)]
    bad = document(BAD, nodes)
    bad.scores = {"word_count": 900.0, "perplexity": 3.0}
    bad.url = "http://evil.example/<script>x()</script>?\u202e"
    found[BAD] = bad
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained to step 45 of 50, where it spiked; back to 36, and on without what did it."""
    folder = tmp_path_factory.mktemp("spike")
    make_run(folder / "curated", documents(), per_shard=100)
    plan = make_plan(folder / "plan", folder / "curated")
    assert BAD // ROWS_PER_STEP + 1 == STEP
    made = Made(folder / "run", N, {BAD: 9.0}).begin(plan)
    made.train(1, 41).train(42, 45, {43: 1.5, 44: 2.5, 45: 1.0})
    made.note("alarm", 43, "the loss jumped", signal="loss", value=4.5, z=20.0, since=43)
    made.bad = {}
    made.again("rollback", 36, "did not return").train(37, 50)
    return made.written()


def test_the_guilty_document_is_first_with_where_it_came_from(run: Path) -> None:
    found = explain_spike(TrainingRun(run), 44)
    first = found.suspects[0]
    bad = documents()[BAD]
    assert (found.attempt, found.attempts, found.rolled_back) == (1, [2], True)
    assert found.onset == 43 or found.onset == 42
    assert first.document.doc_id == bad.doc_id
    assert (first.document.warc_filename, first.document.warc_record_offset) == ("a.warc.gz", BAD)
    assert (first.step, first.side, first.repeat) == (STEP, "loss too high", 0)
    assert first.shown is not None
    assert first.shown.text.startswith("</blockquote>")
    assert [(p.name, p.width, p.height) for p in first.shown.pictures] == [("001.jpg", 200, 160)]
    assert {s.name: s.percentile for s in first.scores}["word_count"] == pytest.approx(100, abs=0.2)
    assert found.verdict.cause == "data"


def test_the_threshold_that_would_have_removed_it_is_named_with_its_cost(run: Path) -> None:
    (found,) = explain_spike(TrainingRun(run), 44, top=1).suspects
    cheapest = found.bounds[0]
    assert (cheapest.bound.score, cheapest.bound.side, cheapest.share) == ("word_count", "max", 1 / N)
    rules = explain_spike(TrainingRun(run), 44, top=1).rules
    assert rules[0].bound == cheapest.bound


def test_the_attempt_that_went_on_has_no_culprit(run: Path) -> None:
    found = explain_spike(TrainingRun(run), 44, attempt=2)
    assert not found.rolled_back
    assert found.verdict.cause == "unknown"
    assert found.suspects[0].suspicion < 8


def test_the_command_tells_all_of_it_and_writes_what_a_plan_leaves_out(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without = tmp_path / "without ids.txt"
    assert main(["explain-spike", str(run), "44", "--top", "3", "--without", str(without)]) == 0
    out = capsys.readouterr().out
    bad = documents()[BAD]
    assert without.read_text() == f"{bad.doc_id}\n"  # the others are shown, and are ordinary
    assert out.count("(ordinary)") == 2
    assert f"obelics plan RECIPE.yaml --without '{without}'" in out
    assert f"obelics explain {run.parent / 'curated'} {bad.doc_id}" in out
    assert "verdict: data" in out
    assert "would have removed" in out
    assert "rolled back since" in out
    assert "step 43: alarm: the loss jumped" in out
    assert "image 001.jpg: 200x160" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_hostile_text_is_shown_in_the_page_and_does_nothing(run: Path, tmp_path: Path) -> None:
    target = tmp_path / "new/spike.html"
    assert main(["explain-spike", str(run), "44", "--html", str(target)]) == 0
    html = target.read_text(encoding="utf-8")
    page = Elements(html)
    for tag, attributes in page.found:
        assert tag not in ("script", "link", "iframe", "object", "base", "form", "a"), tag
        assert not {"style", "srcset", "href", "onclick", "onerror"} & set(attributes), attributes
        assert (attributes.get("src") or "data:image/jpeg;base64,").startswith("data:image/jpeg;base64,")
    assert any(tag == "img" for tag, _ in page.found)
    policy = next(a["content"] or "" for t, a in page.found if a.get("http-equiv") == "Content-Security-Policy")
    (style,) = page.inside["style"]
    assert policy.startswith(f"default-src 'none'; img-src data:; style-src 'sha256-{sha256_of(style)}'")
    assert "url(" not in style
    assert "<script>x()</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "⟨U+202E⟩" in page.text
    assert "\u202e" not in html
    assert "\x1b" not in html


def test_the_same_run_gives_the_same_page(run: Path, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        assert main(["explain-spike", str(run), "44", "--html", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_model_that_knows_nothing_is_warned_of(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = TrainingRun(run).plan
    about = json.loads((plan / "plan.json").read_text())
    other = make_plan(tmp_path / "plan", run.parent / "curated")
    (other / "plan.json").write_text(json.dumps(about | {"tokenizer": {"words": 20}}))  # ln 20 = 3.0, the usual loss
    made = Made(tmp_path / "run", N, {BAD: 9.0}).begin(other).train(1, 44, {44: 2.0})
    assert main(["explain-spike", str(made.written()), "44"]) == 0
    out = capsys.readouterr().out
    assert "warning: a loss of" in out
    assert "verdict: unknown" in out


def test_documents_whose_run_is_gone_are_named_without_their_scores(tmp_path: Path, run: Path) -> None:
    make_run(tmp_path / "curated", documents()[:50], per_shard=50)
    plan = make_plan(tmp_path / "plan", tmp_path / "curated")
    made = Made(tmp_path / "run", 50, {3: 9.0}).begin(plan).train(1, 10, {2: 2.0}).written()
    for path in ("index.parquet", "shards/shard-000000.tar"):
        (tmp_path / "curated" / path).unlink()
    found = explain_spike(TrainingRun(made), 2, top=2)
    assert found.suspects[0].document.number == 3
    assert found.suspects[0].scores == []
    assert "the shard is missing" in (found.suspects[0].problem or "")
    assert "has no index.parquet" in found.notices[0]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["explain-spike", *arguments])
    _, line = capsys.readouterr()
    assert (code, line.count("\n")) == (2, 1), line
    return line


def test_what_cannot_be_explained_is_said_in_one_line(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "not the folder of a training run" in refused(capsys, str(tmp_path), "4")
    assert "has the steps 1 to 50" in refused(capsys, str(run), "51")
    assert "has no step 48; it was trained in attempt 2" in refused(capsys, str(run), "48", "--attempt", "1")
    (tmp_path / "file").touch()
    assert "cannot be written" in refused(capsys, str(run), "44", "--html", str(tmp_path / "file/a.html"))
    other = Made(tmp_path / "run", 9).begin(tmp_path / "nowhere").train(1, 2).written()
    assert "no plan is there" in refused(capsys, str(other), "2")
    (other / "accounts/attempt-00001/rank-00000/steps-00000001-00000002.parquet").unlink()
    assert "no documents are noted" in refused(capsys, str(other), "2")


def test_a_plan_that_is_another_one_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(tmp_path / "curated", documents()[:8], per_shard=8)
    plan = make_plan(tmp_path / "plan", tmp_path / "curated")
    made = Made(tmp_path / "run", 50).begin(plan).train(1, 4).written()
    assert "another plan than the run's" in refused(capsys, str(made), "4")


def test_a_loss_that_is_no_number_and_steps_without_documents_are_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Made(tmp_path / "run", N).begin(TrainingRun(run).plan).train(1, 14).train(15, 20)
    made.lines[17]["loss"] = None  # as a training writes it
    folder = made.written()
    (folder / "accounts/attempt-00001/rank-00000/steps-00000015-00000020.parquet").unlink()
    found = explain_spike(TrainingRun(folder), 18)
    assert any(lead.name == "loss" and math.isinf(lead.farthest) for lead in found.leads)
    assert "of 4 of 18 steps no documents are noted" in found.notices[0]
    target = tmp_path / "spike.html"
    assert main(["explain-spike", str(folder), "18", "--html", str(target)]) == 0
    assert main(["chronicle", str(folder)]) == 0
    del made.lines[17]
    assert "has the steps 1 to 20" in refused(capsys, str(made.written()), "18")


def test_a_word_of_a_megabyte_is_shown_cut(tmp_path: Path) -> None:
    pages = documents()[:40]
    pages[3] = document(3, [TextNode("w" * 10**6), image(1)])
    make_run(tmp_path / "curated", pages, per_shard=50)
    plan = make_plan(tmp_path / "plan", tmp_path / "curated")
    made = Made(tmp_path / "run", 40, {3: 9.0}).begin(plan).train(1, 10, {2: 2.0}).written()
    target = tmp_path / "spike.html"
    assert main(["explain-spike", str(made), "1", "--html", str(target)]) == 0
    assert "w" * 1000 in (html := target.read_text(encoding="utf-8"))
    assert len(html) < 500_000
