"""The map is made beside the page, once, and what the page asks of it is what the run has."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.tune.rules import document_rules
from obelics_pipeline.inspect.tune.server import application
from obelics_pipeline.inspect.tune.workbench import Workbench
from tests.inspect.map.planted import made_document, run_folder, topic_text

pytest.importorskip("openTSNE")
pytest.importorskip("sklearn")

EVERYTHING = [(-1e6, -1e6), (1e6, -1e6), (1e6, 1e6), (-1e6, 1e6)]
NOTHING = [(1e6, 1e6), (1e6 + 1, 1e6), (1e6, 1e6 + 1)]
FARM = "everyday-answers-hub.example"


def made(bench: Workbench) -> Workbench:
    """Its map is there."""
    bench.map.make_map()
    until(lambda: not bench.map.map_state()["working"])
    assert bench.map.map_state()["problem"] is None
    return bench


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def copy(run: Path, to: Path) -> Path:
    return Path(shutil.copytree(run, to))


def small(path: Path, documents: list[Document]) -> Workbench:
    """A bench over the folder of a run that extracted just these."""
    run_folder(path, [documents])
    RunFolder(path).config.write_text(dump_config(load_config("default")))
    return made(Workbench(path, 1))


@pytest.fixture(scope="module")
def bench(sampled_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return made(Workbench(copy(sampled_run, tmp_path_factory.mktemp("mapped") / "run"), 1))


@pytest.fixture(scope="module")
def points(bench: Workbench) -> dict[str, Any]:
    return bench.map.map_points()


def around(bench: Workbench, points: dict[str, Any], wanted: np.ndarray) -> list[tuple[float, float]]:
    """The box of the points of some rows."""
    some = np.isin(points["rows"], np.flatnonzero(wanted))
    x, y = (np.array(points[axis])[some] for axis in "xy")
    left, right, low, high = x.min() - 0.01, x.max() + 0.01, y.min() - 0.01, y.max() + 0.01
    return [(left, low), (right, low), (right, high), (left, high)]


def test_a_map_is_made_once_with_its_progress_told(sampled_run: Path, tmp_path: Path) -> None:
    bench = Workbench(copy(sampled_run, tmp_path / "run"), 1)
    assert not bench.map.map_state()["there"]
    with pytest.raises(UserError, match="there is no map of these documents yet"):
        bench.map.map_points()
    states = [bench.map.make_map()]
    assert bench.map.make_map()["working"]  # no second one
    until(lambda: states.append(bench.map.map_state()) or not states[-1]["working"])  # type: ignore[func-returns-value]
    assert states[-1] == {"there": True, "working": False, "problem": None, "documents": len(bench.run.documents)}
    assert {"words", "layout"} & {state.get("step") for state in states}
    assert all(state["done"] <= state["total"] for state in states if state["working"])
    written = (tmp_path / "run/map/points.parquet").stat().st_mtime_ns
    again = Workbench(tmp_path / "run", 1)
    assert again.map.map_state()["there"]
    made(again)
    assert (tmp_path / "run/map/points.parquet").stat().st_mtime_ns == written


def test_without_open_tsne_one_is_told_what_to_install(
    sampled_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obelics_pipeline.inspect.map.project", None)
    bench = Workbench(copy(sampled_run, tmp_path / "run"), 1)
    bench.map.make_map()
    until(lambda: not bench.map.map_state()["working"])
    problem = bench.map.map_state()["problem"]
    assert problem.startswith("a map needs openTSNE: pip install 'obelics-pipeline[tune]'")
    assert "\n" not in problem


def test_a_map_of_other_documents_is_not_shown(sampled_run: Path, tmp_path: Path, bench: Workbench) -> None:
    folder = copy(sampled_run, tmp_path / "run")
    (folder / "map").mkdir()
    documents = [made_document(i, topic_text(i % 2, i)) for i in range(8)]
    small(tmp_path / "other", documents)
    for name in ("points", "labels"):
        shutil.copy(tmp_path / "other/map" / f"{name}.parquet", folder / "map")
    assert not Workbench(folder, 1).map.map_state()["there"]


def test_points_are_the_documents_that_have_words(bench: Workbench, points: dict[str, Any]) -> None:
    documents = bench.run.documents
    assert len(points["x"]) == len(points["y"]) == len(points["rows"]) == len(set(points["rows"]))
    assert len(points["rows"]) + points["wordless"] == points["of"] == len(documents)
    assert all(documents.bytes[row] > 0 for row in points["rows"])
    assert points["labels"] and all(label["words"] for label in points["labels"])
    json.dumps(points, allow_nan=False)


def test_colours_are_what_the_run_measured(bench: Workbench, points: dict[str, Any]) -> None:
    documents, rows = bench.run.documents, points["rows"]
    for color in points["colors"]:
        found = bench.map.map_color(color, {})
        json.dumps(found, allow_nan=False)
        assert len(found.get("values") or found["codes"]) == len(rows)
    farm = bench.map.map_color("farm_score", {})["values"]
    for row, value in zip(rows, farm, strict=True):
        score = documents.scores["farm_score"][row]
        assert (value is None) == np.isnan(score)
        assert value is None or value == pytest.approx(score, rel=1e-3)
    for column in ("language", "page_type"):
        found = bench.map.map_color(column, {})
        named = [found["names"][code] if code >= 0 else None for code in found["codes"]]
        assert named == documents.table[column].take(rows).to_pylist()
    with pytest.raises(UserError, match="nothing: no such colour"):
        bench.map.map_color("nothing", {})


def test_the_colour_of_reasons_follows_the_settings(bench: Workbench, points: dict[str, Any]) -> None:
    own = bench.map.map_color("reason", {})
    named = [own["names"][code] if code >= 0 else None for code in own["codes"]]
    assert named == bench.run.documents.table["reason"].take(points["rows"]).to_pylist()
    moved = bench.map.map_color("reason", {"filters.document.word_count.min": 100_000})
    assert set(moved["codes"]) - {-1} and -1 not in moved["codes"]


def test_marks_are_coloured(bench: Workbench, points: dict[str, Any]) -> None:
    good, bad = (bench.run.documents.ids[row] for row in points["rows"][:2])
    bench.mark(good, "good")
    bench.mark(bad, "bad")
    found = bench.map.map_color("mark", {})
    assert [found["names"][code] for code in found["codes"][:2]] == ["good", "bad"]
    assert set(found["codes"][2:]) == {-1}


def test_a_region_tells_how_much_is_in_it_and_shows_documents(bench: Workbench, points: dict[str, Any]) -> None:
    documents = bench.run.documents
    every = bench.map.region(EVERYTHING)
    assert every["documents"] == len(points["rows"])
    assert every["kept"] == documents.kept[points["rows"]].sum()
    assert sum(site["inside"] for site in every["sites"]) <= len(points["rows"])
    assert all(site["all"] >= site["inside"] > 0 for site in every["sites"])
    assert len(every["shown"]) == min(50, len(points["rows"]))
    assert bench.map.region_rules(EVERYTHING) == []
    nothing = bench.map.region(NOTHING)
    assert (nothing["documents"], nothing["kept"], nothing["sites"], nothing["shown"]) == (0, 0, [], [])
    assert bench.map.region_rules(NOTHING) == []
    one = bench.map.map_document(points["rows"][0])
    assert one["doc_id"] == documents.ids[points["rows"][0]]
    for row in (-1, len(documents)):
        with pytest.raises(UserError, match="the run has"):
            bench.map.map_document(row)


def test_rules_of_a_region_are_of_scores_that_the_page_can_bound(bench: Workbench, points: dict[str, Any]) -> None:
    long = bench.run.documents.scores["word_count"] > np.nanmedian(bench.run.documents.scores["word_count"])
    found = bench.map.region_rules(around(bench, points, long & bench.run.documents.sites.mask(FARM)))
    found += bench.map.region_rules(around(bench, points, bench.run.documents.languages.mask("fr")))
    assert found
    movable = {rule.name for rule in document_rules(bench.run.config)}
    for rule in found:
        assert {line.split(":")[0].rpartition(".")[2] for line in rule["lines"]} <= movable
        assert all(0 <= rule[share] <= 1 for share in ("precision", "recall", "rest_kept"))
        assert rule["dropped"] > 0 and rule["lines"]
        if rule["settings"] is not None:
            estimated = {of["place"]: of for of in bench.estimate(rule["settings"])["rules"]}
            for place in rule["settings"]:
                assert place in estimated or place.rpartition(".")[0] in estimated
    assert any(rule["settings"] for rule in found)


def test_a_training_set_is_written_once(bench: Workbench, points: dict[str, Any], tmp_path: Path) -> None:
    corners = around(bench, points, bench.run.documents.sites.mask(FARM))
    found = bench.map.training_set(corners, Path("set"))
    assert found["texts"][0] == bench.map.region(corners)["documents"] >= found["texts"][1] > 0
    assert Path(found["region"]).parent == Path(found["rest"]).parent == bench.run.folder.path / "set"
    assert Path(found["region"]).exists() and Path(found["rest"]).exists()
    with pytest.raises(UserError, match="is there already; give another folder"):
        bench.map.training_set(corners, Path("set"))
    with pytest.raises(UserError, match="the page does not write there"):
        bench.map.training_set(corners, tmp_path / "set")
    with pytest.raises(UserError, match="texts of two kinds"):
        bench.map.training_set(NOTHING, Path("none"))
    assert not (bench.run.folder.path / "none").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("texts", [[], ["some words of a text"], ["one text", "", "another one"]])
def test_a_map_of_hardly_anything_is_no_error(tmp_path: Path, texts: list[str]) -> None:
    bench = small(tmp_path / "run", [made_document(i, text) for i, text in enumerate(texts or [""])])
    points = bench.map.map_points()
    assert len(points["rows"]) == sum(map(bool, texts))
    for color in points["colors"]:
        bench.map.map_color(color, {})
    assert bench.map.region(EVERYTHING)["documents"] == len(points["rows"])
    assert bench.map.region_rules(EVERYTHING) == []


def test_wrong_questions_are_told_in_one_line(bench: Workbench) -> None:
    with TestClient(application(bench, "t"), base_url="http://127.0.0.1") as client:
        for name, values, said in (
            ("region", {"corners": [[0, 0], [1, 1]]}, "3 corners or more, this one has 2"),
            ("region", {"corners": [[0, "a"]]}, "corners.0.1"),
            ("map_color", {"color": "nothing", "settings": {}}, "no such colour"),
            ("training_set", {"corners": NOTHING}, "folder"),
        ):
            answer = client.post(f"/t/api/{name}", json=values)
            assert answer.status_code == 400
            assert said in answer.json()["error"] and "\n" not in answer.json()["error"]
        assert client.post("/t/api/map_state").json()["answer"]["there"]
