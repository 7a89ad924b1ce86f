from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256, files_below
from obelics_pipeline.models.packed_flamingo.document_tokens import document_tokens
from obelics_pipeline.training.plan import command
from obelics_pipeline.training.plan.command import plan
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.plan.records import read_records
from obelics_pipeline.training.plan.tokenizer import ids_crc32
from tests.stages.shard.runs import make_run

from .made import VOCABULARY, fake_tokenizer, made_run, page, write_recipe


@pytest.fixture(autouse=True)
def no_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "open_tokenizer", fake_tokenizer)


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, dict[str, object]]:
    return {
        "web": {"runs": [str(made_run(tmp_path / "a", range(60))), str(made_run(tmp_path / "b", range(60, 90)))]},
        "wiki": {"runs": [str(made_run(tmp_path / "c", range(100, 120)))], "repeat": 3},
    }


def test_a_plan_says_where_each_document_is_and_what_was_counted_of_it(
    tmp_path: Path, runs: dict[str, dict[str, object]]
) -> None:
    lines: list[str] = []
    about = plan(write_recipe(tmp_path / "r.yaml", runs), tmp_path / "plan", say=lines.append)
    found = open_plan(tmp_path / "plan")
    assert found.n_documents == 110
    for number in range(110):
        document = found.document(number)
        (record,) = read_records(Path(document.shard), [(document.offset, document.length, document.doc_id)])
        tokens = document_tokens(record, VOCABULARY)
        assert (document.n_tokens, document.n_images) == (len(tokens.ids), tokens.n_images)
        assert (document.ids_crc32, document.n_target_bytes) == (ids_crc32(tokens), tokens.n_bytes)
        assert document.url == f"http://pages.example/{document.warc_record_offset}"
        assert found.datasets[document.dataset] == ("web" if number < 90 else "wiki")
    trained = {span.document for i in range(found.n_rows) for span in found.row(i).spans}
    assert found.held_out is not None
    held = {span.document for i in range(found.held_out.n_rows) for span in found.held_out.row(i).spans}
    assert trained | held == set(range(110))
    assert {found.document(n).reason for n in trained} == {None}
    assert {found.document(n).reason for n in held} == {"held_out"}
    assert about["ledger"]["documents"] == {
        "in": 110, "planned": len(trained), "held_out": len(held), "left_out": {}, "dropped": 0,
    }  # fmt: skip
    assert {d["name"]: d["epochs"] for d in about["datasets"]} == {"web": 1.0, "wiki": 3.0}
    assert 10 <= len(lines) <= 14
    assert any("3 x " in line for line in lines)


def test_equal_recipes_and_runs_give_equal_bytes(tmp_path: Path, runs: dict[str, dict[str, object]]) -> None:
    path = write_recipe(tmp_path / "r.yaml", runs)
    for name, counts in (("first", None), ("again", None), ("anew", tmp_path / "other-counts")):
        plan(path, tmp_path / name, counts=counts, say=lambda line: None)
    names = list(files_below(tmp_path / "first"))
    assert len(names) == 6
    for name in names:
        assert len({file_sha256(tmp_path / folder / name) for folder in ("first", "again", "anew")}) == 1
    plan(path, tmp_path / "again", overrides=["seed=1"], say=lambda line: None)
    assert _order(open_plan(tmp_path / "again")) != _order(open_plan(tmp_path / "first"))


def test_held_out_documents_are_the_same_for_every_recipe(tmp_path: Path, runs: dict[str, dict[str, object]]) -> None:
    path = write_recipe(tmp_path / "r.yaml", runs, held_out=0.2)
    found = []
    turned = f"datasets.web.runs=[{tmp_path / 'b'}, {tmp_path / 'a'}]"
    for sets in ([], ["seed=5"], [turned], ["datasets.web.share=0.5"], ["datasets.wiki.keep.word_count.max=1000"]):
        plan(path, tmp_path / "plan", overrides=sets, say=lambda line: None)
        opened = open_plan(tmp_path / "plan")
        documents = [opened.document(n) for n in range(opened.n_documents)]
        found.append(sorted(d.doc_id for d in documents if d.reason == "held_out"))
    assert 8 <= len(found[0]) <= 40
    assert all(ids == found[0] for ids in found)


def test_thresholds_shares_and_missing_values_leave_out_with_their_reason(
    tmp_path: Path, runs: dict[str, dict[str, object]]
) -> None:
    runs["web"] |= {
        "keep": {
            "word_count": {"min": 10, "max": 79},
            "perplexity": {"if_missing": "drop", "sample": [[0, 1], [100, 0]]},
            "language": {"any_of": ["en"]},
        }
    }
    runs["wiki"] |= {"share": 0.5, "repeat": 1}
    about = plan(write_recipe(tmp_path / "r.yaml", runs, held_out=0), tmp_path / "plan", say=lambda line: None)
    found = open_plan(tmp_path / "plan")
    reasons = {n: found.document(n).reason for n in range(110)}
    assert {n for n, r in reasons.items() if r == "below_threshold:word_count"} == set(range(10))
    assert {n for n, r in reasons.items() if r == "above_threshold:word_count"} == set(range(80, 90))
    assert {n for n, r in reasons.items() if r == "missing:perplexity"} == set(range(11, 80, 2))
    sampled = {n for n, r in reasons.items() if r == "sampled_out:perplexity"}
    assert 5 <= len(sampled) <= 30
    assert sum(sampled) / len(sampled) > 45  # the higher the value, the fewer are kept
    assert {n for n, r in reasons.items() if r == "not_any_of:language"} < set(range(0, 110, 3))
    assert {r for n, r in reasons.items() if n >= 90} == {None, "sampled_out:share"}
    left = about["ledger"]["documents"]["left_out"]
    assert sum(left.values()) + about["ledger"]["documents"]["planned"] == 110


def test_a_share_leaves_out_what_it_has_no_room_for(tmp_path: Path, runs: dict[str, dict[str, object]]) -> None:
    runs["web"] |= {"weight": 0.5}
    runs["wiki"] |= {"weight": 0.5, "repeat": 1}
    about = plan(write_recipe(tmp_path / "r.yaml", runs, held_out=0), tmp_path / "plan", say=lambda line: None)
    web, wiki = about["datasets"]
    assert wiki["epochs"] == 1.0
    assert abs(web["tokens"] - wiki["tokens"]) <= 32
    books = about["ledger"]
    assert books["documents"]["left_out"]["beyond_share"] + books["documents"]["planned"] == 110
    assert books["tokens"]["in"] == books["tokens"]["planned"] + books["tokens"]["left_out"]["beyond_share"]


def test_documents_are_left_out_by_id_or_url_and_other_rows_stay(
    tmp_path: Path, runs: dict[str, dict[str, object]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_recipe(tmp_path / "r.yaml", runs)
    plan(path, tmp_path / "whole", say=lambda line: None)
    whole = open_plan(tmp_path / "whole")
    trained = [n for n in range(110) if whole.document(n).reason is None]
    first, second = whole.document(trained[5]), whole.document(trained[9])
    (tmp_path / "bad.txt").write_text(f"# garbage\n{first.doc_id}\nhttp://nowhere.example/\n")
    (tmp_path / "worse.txt").write_text(f"{second.url}\n")
    files = [str(tmp_path / "bad.txt"), str(tmp_path / "worse.txt")]
    assert main(["plan", path, "--output", str(tmp_path / "part"), "--workers", "1", "--without", *files]) == 0
    assert "1 lines name no document of the recipe, e.g. http://nowhere.example/" in capsys.readouterr().out
    part = open_plan(tmp_path / "part")
    assert [n for n in range(110) if part.document(n).reason == "without"] == [trained[5], trained[9]]
    left = [[s for s in row if s.document not in (trained[5], trained[9])] for row in _order(whole)]
    assert _order(part) == [row for row in left if row]


def test_copies_are_refused_unless_they_are_wished_for(tmp_path: Path) -> None:
    documents = [page(1, 20), page(2, 20)]
    documents[1].nodes = documents[0].nodes  # another id and URL, and the same texts and images
    make_run(tmp_path / "a", [*documents, *(page(n, 20) for n in range(3, 9))])
    index = pq.read_table(tmp_path / "a/index.parquet")
    assert len(set(index["content_sha256"].to_pylist())) == 8  # the id is in it: it tells copies apart
    path = write_recipe(tmp_path / "r.yaml", {"web": {"runs": [str(tmp_path / "a")]}}, held_out=0)
    with pytest.raises(UserError, match=r"pages.example/1\) and document .*pages.example/2\) have the same texts"):
        plan(path, tmp_path / "plan", say=lambda line: None)
    assert not (tmp_path / "plan/plan.json").exists()
    plan(path, tmp_path / "plan", overrides=["allow_equal_content=true"], say=lambda line: None)
    (tmp_path / "copy.txt").write_text("http://pages.example/2\n")
    plan(path, tmp_path / "plan", without=[str(tmp_path / "copy.txt")], say=lambda line: None)


def test_the_same_run_in_two_data_sets_is_refused(tmp_path: Path, runs: dict[str, dict[str, object]]) -> None:
    runs["again"] = {"runs": runs["wiki"]["runs"]}
    with pytest.raises(UserError, match="have the same texts and images"):
        plan(write_recipe(tmp_path / "r.yaml", runs), tmp_path / "plan", say=lambda line: None)


def test_what_is_wrong_is_one_line_and_exit_code_2(
    tmp_path: Path, runs: dict[str, dict[str, object]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_recipe(tmp_path / "r.yaml", runs)
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "mine.txt").write_text("")
    moved = tmp_path / "moved"
    shutil.copytree(tmp_path / "a", moved)
    shutil.rmtree(moved / "shards")
    torn = tmp_path / "torn"
    shutil.copytree(tmp_path / "a", torn)
    tar = next(iter(sorted((torn / "shards").iterdir())))
    tar.write_bytes(tar.read_bytes()[512:])
    edited = tmp_path / "edited"
    shutil.copytree(tmp_path / "a", edited)
    shutil.copy(tmp_path / "b/index.parquet", edited / "index.parquet")
    output = ["--output", str(tmp_path / "plan"), "--workers", "1"]
    for arguments, message in (
        ([path, *output, "--set", "datasets.web.keep.wordcount.min=3"], "no such column in"),
        ([path, *output, "--set", "datasets.web.keep.language.min=3"], "the column holds string; give any_of"),
        ([path, *output, "--set", f"datasets.web.runs=[{tmp_path}]"], "has no index.parquet; give the --output of"),
        ([path, *output, "--set", f"datasets.web.runs=[{moved}]"], "shard-000000.tar is missing (15 such)"),
        ([path, *output, "--set", f"datasets.web.runs=[{torn}]"], "where the index has it; see obelics validate"),
        ([path, *output, "--set", f"datasets.web.runs=[{edited}]"], "not the index that manifest.json names"),
        ([path, *output, "--without", str(tmp_path / "none")], "cannot be read"),
        ([path, "--output", str(stranger)], "holds mine.txt, which is of no plan"),
        ([path, *output, "--set", "sed=1"], "unknown key sed; did you mean seed?; valid keys here"),
    ):
        assert main(["plan", *arguments]) == 2, message
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
        assert not (tmp_path / "plan/plan.json").exists()


def test_counts_are_kept_and_made_anew_where_they_are_damaged(
    tmp_path: Path, runs: dict[str, dict[str, object]]
) -> None:
    path = write_recipe(tmp_path / "r.yaml", runs)
    lines: list[str] = []
    first = plan(path, tmp_path / "plan", say=lines.append)
    assert "counting the tokens of 110 documents in 28 shards" in lines
    lines.clear()
    assert plan(path, tmp_path / "plan", say=lines.append) == first
    assert not any("counting" in line for line in lines)
    kept = sorted((tmp_path / "token-counts").rglob("*.parquet"))
    kept[0].write_bytes(kept[0].read_bytes()[:-9])
    data = bytearray(kept[1].read_bytes())
    data[30] ^= 1
    kept[1].write_bytes(bytes(data))
    assert plan(path, tmp_path / "plan", say=lines.append) == first
    assert any("in 2 shards" in line for line in lines)


def test_a_tokenizer_that_changed_is_counted_anew(tmp_path: Path, runs: dict[str, dict[str, object]]) -> None:
    path = write_recipe(tmp_path / "r.yaml", runs)
    before = plan(path, tmp_path / "plan", say=lambda line: None)
    (tmp_path / "lm/tokenizer.json").write_text(json.dumps({}))
    lines: list[str] = []
    after = plan(path, tmp_path / "plan", say=lines.append)
    assert any("counting" in line for line in lines)
    assert before["tokenizer"]["sha256"] != after["tokenizer"]["sha256"]


@pytest.mark.slow
def test_any_number_of_workers_makes_the_same_plan(
    tmp_path: Path, runs: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from obelics_pipeline.models.packed_flamingo.tiny import tiny_language_model
    from obelics_pipeline.training.plan.tokenizer import open_tokenizer

    monkeypatch.setattr(command, "open_tokenizer", open_tokenizer)
    tiny_language_model(tmp_path / "lm", [" ".join(f"w{i}" for i in range(500))], words=300)
    path = write_recipe(tmp_path / "r.yaml", runs)
    for workers in (1, 3):
        counts = tmp_path / f"counts-{workers}"
        plan(path, tmp_path / f"plan-{workers}", workers=workers, counts=counts, say=lambda line: None)
    for name in files_below(tmp_path / "plan-1"):
        assert file_sha256(tmp_path / "plan-1" / name) == file_sha256(tmp_path / "plan-3" / name)


def _order(found: Plan) -> list[list[object]]:
    return [list(found.row(i).spans) for i in range(found.n_rows)]
