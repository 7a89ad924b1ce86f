"""What the page asks is answered from a run, and from the last dry run after that."""

import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.tune.workbench import Workbench

WORDS, FARM = "filters.document.word_count.min", "filters.document.farm_score.max"


@pytest.fixture(scope="module")
def bench(sampled_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    folder = tmp_path_factory.mktemp("tuned") / "run"
    shutil.copytree(sampled_run, folder)
    return Workbench(folder, workers=1)


def first(bench: Workbench, reason: str | None, **settings: Any) -> str:
    return str(bench.listed(settings, reason)[0]["doc_id"])


def test_it_says_what_the_run_is_and_what_it_kept(bench: Workbench) -> None:
    about = bench.about()
    assert (about["config"], about["sample"]) == ("default", 0.6)
    assert about["estimate"]["exact"]
    kept = bench.run.documents.table.filter(bench.run.documents.kept)
    assert about["estimate"]["kept"]["documents"] == kept.num_rows
    assert about["estimate"]["kept"]["images"] == sum(kept["images"].to_pylist())
    assert {language["name"] for language in about["languages"]} > {"en", "fr"}
    kinds = Counter(bench.run.documents.table["page_type"].drop_null().to_pylist())
    assert {kind["name"]: kind["documents"] for kind in about["page_types"]} == kinds
    assert about["page_types"][0]["name"] == "article"
    assert [rule["name"] for rule in about["document"]][:2] == ["language_score", "main_content_confidence"]


def test_a_moved_threshold_is_counted_and_not_said_to_be_exact(bench: Workbench) -> None:
    words = bench.run.documents.scores["word_count"]
    found = bench.estimate({WORDS: 300})
    assert not found["exact"]
    rule = next(rule for rule in found["rules"] if rule["name"] == "word_count")
    assert rule["drops"] == (words < 300).sum()
    assert found["kept"]["documents"] == ((words >= 300) & bench.run.documents.kept).sum()
    assert bench.levels({WORDS: 300})["document"][4]["min"] == 300


def test_thresholds_of_paragraphs_and_images_are_counted(bench: Workbench) -> None:
    settings = {"filters.paragraph.word_count.min": 30, "images.min_side": 5000}
    assert bench.estimate(settings)["kept"]["documents"] < bench.estimate({})["kept"]["documents"]
    assert bench.counts(settings, "paragraph")[0]["drops"] > bench.counts({}, "paragraph")[0]["drops"]
    side = next(rule for rule in bench.counts(settings, "image") if rule["name"] == "shorter_side")
    assert side["drops"] == side["measured"] > 0


def test_what_lies_on_either_side_of_a_line_is_listed_the_nearest_first(bench: Workbench) -> None:
    for level, name, value in (
        ("document", "word_count", 200),
        ("paragraph", "word_count", 5),
        ("image", "ratio", 1.4),
    ):
        for side, rows in bench.near(level, name, value).items():
            distances = [abs(row["value"] - value) for row in rows]
            assert distances == sorted(distances)
            assert all((row["value"] < value) == (side == "below") for row in rows)
    with pytest.raises(UserError, match="nothing: the run has no such score"):
        bench.near("document", "nothing", 1)


def test_a_language_and_a_site_narrow_what_is_shown(bench: Workbench) -> None:
    every = bench.histogram("document", "word_count")
    french = bench.histogram("document", "word_count", language="fr")
    assert 0 < sum(french["all"]) < sum(every["all"])
    farm = bench.histogram("document", "farm_score", site="everyday-answers-hub.example")
    assert sum(farm["all"]) == bench.run.documents.sites.mask("everyday-answers-hub.example").sum()
    assert sum(bench.histogram("document", "word_count", site=".example")["all"]) > sum(farm["all"])


def test_a_kind_of_page_narrows_what_is_shown(bench: Workbench) -> None:
    table = bench.run.documents.table
    forum = bench.histogram("document", "word_count", page_type="forum")
    assert sum(forum["all"]) == table["page_type"].to_pylist().count("forum") > 0
    for rows in bench.near("document", "word_count", 100, page_type="forum").values():
        assert {row["page_type"] for row in rows} <= {"forum"}


def test_a_dropped_document_is_shown_whole_with_its_images(bench: Workbench) -> None:
    found = bench.document(first(bench, "farm_score"))
    assert found["reason"] == "farm_score"
    assert any(node["kind"] == "text" and node["parts"] for node in found["nodes"])
    pictures = [node["sha256"] for node in found["nodes"] if node["kind"] == "image" and node["sha256"]]
    assert pictures
    assert bench.image(pictures[0])[:3] in (b"\xff\xd8\xff", b"\x89PN", b"RIF")
    with pytest.raises(UserError, match="not in the run's store"):
        bench.image("../../../etc/passwd")
    with pytest.raises(UserError, match="no such document"):
        bench.document("0" * 32)


def test_what_made_a_score_is_marked(bench: Workbench) -> None:
    farm = first(bench, "farm_score")
    marked = [part["text"] for part in marked_parts(bench, farm, "farm_score", "document")]
    assert marked
    assert not marked_parts(bench, farm, None, "document")
    assert marked_parts(bench, farm, "special_character_ratio", "paragraph")
    assert not marked_parts(bench, farm, "ratio", "image")


def marked_parts(bench: Workbench, doc_id: str, rule: str | None, level: str) -> list[dict[str, Any]]:
    nodes = [node for node in bench.document(doc_id, rule, level)["nodes"] if node["kind"] == "text"]
    for node in nodes:
        assert all(part["text"] for part in node["parts"])
    return [part for node in nodes for part in node["parts"] if part["marked"]]


def test_two_configs_are_told_apart(bench: Workbench) -> None:
    found = bench.compared({WORDS: 300}, {FARM: 2})
    assert found["only"]["first"] == 0
    assert found["only"]["second"] > 0
    assert {row["reason"] for row in found["documents"]["second"]} <= {"word_count", "farm_score"}


def test_another_config_is_weighed_by_the_settings_that_lead_to_it(bench: Workbench) -> None:
    path = Path(bench.saved({WORDS: 300}, Path("other.yaml")))
    text = path.read_text().replace("    farm_score: { max: 0.95 }", "    # farm_score: { max: 0.95 }")
    path.write_text(text + "\n")
    settings = bench.settings_of(str(path))
    assert settings[WORDS] == 300
    assert bench.config(settings).filters.document["farm_score"].max is None
    assert bench.compared(settings, {WORDS: 300})["only"]["second"] == 0
    assert bench.settings_of("default") == {"fetch.retries": 1}  # the run of tests tries no image twice


@pytest.mark.parametrize(("config", "line"), [("nowhere.yaml", "no such file"), ("obelics", "run the sample again")])
def test_a_config_that_cannot_be_weighed_is_told_in_a_line(bench: Workbench, config: str, line: str) -> None:
    with pytest.raises(UserError, match=line):
        bench.settings_of(config)


def test_marks_judge_the_rules_and_suggest_thresholds(bench: Workbench) -> None:
    bad, good = first(bench, "farm_score"), first(bench, None)
    assert (bench.mark(bad, "bad"), bench.mark(good, "good")) == (1, 2)
    found = bench.estimate({})
    farm = [rule["name"] for rule in found["rules"]].index("farm_score")
    assert found["judged"][farm]["precision"]["value"] == found["judged"][farm]["recall"]["value"] == 1
    threshold = bench.suggested({}, "farm_score", "max", precision=1.0, tokens=None)
    scores = bench.run.documents.scores["farm_score"]
    row_of = bench.run.documents.row_of
    assert threshold is not None
    assert scores[row_of[good]] < threshold < scores[row_of[bad]]
    wanted = bench.estimate({})["kept"]["tokens"] / 2
    budget = bench.suggested({}, "farm_score", "max", precision=None, tokens=wanted)
    assert bench.estimate({FARM: budget})["kept"]["tokens"] <= wanted
    assert Workbench(bench.run.folder.path, 1).marks.of(bad) == "bad"  # type: ignore[arg-type]


def test_a_wrong_value_is_told_in_a_line(bench: Workbench) -> None:
    for settings, line in (
        ({"filters.document.wordcount.min": 3}, "wordcount: not measured in this run.*word_count"),
        ({"images.min_side": "wide"}, "min_side"),
    ):
        with pytest.raises(UserError, match=line):
            bench.estimate(settings)


def test_a_saved_config_is_the_tuned_one_with_its_comments(bench: Workbench) -> None:
    path = Path(bench.saved({WORDS: 42}, Path("tuned.yaml")))
    assert path == bench.run.folder.path / "tuned.yaml"
    assert "# a page without an image is no interleaved document" in path.read_text()
    assert load_config(str(path)) == bench.config({WORDS: 42})


@pytest.mark.parametrize(
    "name", ["{}/x.yaml", "../x.yaml", "x.yaml/../../x.yaml", "tuned.sh", "config.yaml", "a\0.yaml"]
)
def test_a_config_is_saved_nowhere_but_in_its_places(name: str, bench: Workbench, tmp_path: Path) -> None:
    before = sorted(path for path in Path(str(bench.run.folder.path)).parent.rglob("*.yaml"))
    with pytest.raises(UserError, match=r"give (a|another) name"):
        bench.saved({WORDS: 42}, Path(name.format(tmp_path)), replace=True)
    assert list(tmp_path.iterdir()) == []
    assert sorted(path for path in Path(str(bench.run.folder.path)).parent.rglob("*.yaml")) == before


def test_after_a_dry_run_the_counts_are_exact(bench: Workbench) -> None:
    settings = {"filters.paragraph.word_count.min": 12}
    assert bench.start_dry_run(settings)["working"]
    deadline = time.monotonic() + 240
    while bench.dry_run(settings)["working"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert bench.dry_run(settings)["problem"] is None
    assert bench.estimate(settings)["exact"]
    assert not bench.estimate({**settings, WORDS: 11})["exact"]
    bench.start_dry_run({"extract.scope": "page"})
    while bench.dry_run({})["working"]:
        time.sleep(0.1)
    assert "run the sample again" in bench.dry_run({})["problem"]


def test_reasons_are_counted_at_each_level(bench: Workbench) -> None:
    found = bench.reasons({})
    assert found["document"] == bench.estimate({})["reasons"]
    reason = "special_character_ratio"
    assert found["paragraph"][reason] == bench.run.paragraphs.reasons.mask(reason).sum() > 0
    assert found["image"]["image_side"] == bench.run.images.reasons.mask("image_side").sum() > 0


def test_marked_documents_are_listed_in_order(bench: Workbench) -> None:
    ids = sorted(str(item["doc_id"]) for item in bench.listed({}, None)[:2])
    for doc_id in reversed(ids):
        bench.mark(doc_id, "good")
    assert [item["doc_id"] for item in bench.marked() if item["doc_id"] in ids] == ids
    for doc_id in ids:
        bench.mark(doc_id, None)
    assert not {item["doc_id"] for item in bench.marked()} & set(ids)
