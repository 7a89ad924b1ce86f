"""What a person does on the map of `obelics tune`, in a browser."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.inspect.tune.browser.conftest import serving, sync_api

pytest.importorskip("openTSNE")
pytest.importorskip("sklearn")
pytestmark = pytest.mark.slow
MADE = 600_000  # ms that a map may take on a busy machine
READ = 60_000  # ms, of the first document: the word lists behind its marked words are read then
FARM = "everyday-answers-hub.example"
ASK = """async ([name, values]) => {
  const response = await fetch(`api/${name}`, { method: "POST", body: JSON.stringify(values) });
  return (await response.json()).answer;
}"""


@pytest.fixture(scope="module")
def mapped(sampled_run: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run with its map, made on the page."""
    folder = Path(shutil.copytree(sampled_run, tmp_path_factory.mktemp("mapped") / "run"))
    with serving(folder) as url:
        page = browser.new_page()
        page.goto(url)
        page.get_by_role("tab", name="Map").click()
        page.locator("#make-map").click()
        page.locator("#map-progress").wait_for()
        page.locator(".plane").wait_for(timeout=MADE)
        page.close()
    assert (folder / "map/points.parquet").exists()
    return folder


@pytest.fixture
def page(tab: Any, mapped: Path, tmp_path: Path) -> Iterator[Any]:
    """The map of a copy of the run, open."""
    with serving(Path(shutil.copytree(mapped, tmp_path / "run"))) as url:
        tab.goto(url)
        tab.get_by_role("tab", name="Map").click()
        tab.locator("#legend li").first.wait_for()
        yield tab


def ask(page: Any, name: str, **values: Any) -> Any:
    return page.evaluate(ASK, [name, values])


def view(page: Any) -> dict[str, float]:
    page.wait_for_timeout(200)  # some frames
    found: dict[str, float] = json.loads(page.locator(".plane canvas[data-view]").get_attribute("data-view"))
    return found


def places(page: Any, wanted: set[str]) -> list[tuple[float, float]]:
    """Where on the screen the points of these documents are."""
    points, at = ask(page, "map_points"), view(page)
    box = page.locator(".plane").bounding_box()
    some = [i for i, row in enumerate(points["rows"]) if ask(page, "map_document", row=row)["url"] in wanted]
    return [
        (
            box["x"] + box["width"] / 2 + (points["x"][i] - at["x"]) * at["scale"],
            box["y"] + box["height"] / 2 - (points["y"][i] - at["y"]) * at["scale"],
        )
        for i in some
    ]


def lasso(page: Any, corners: list[tuple[float, float]]) -> None:
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in [*corners[1:], corners[0]]:
        page.mouse.move(*corner, steps=5)
    page.mouse.up()


def all_of_it(page: Any) -> list[tuple[float, float]]:
    box = page.locator(".plane").bounding_box()
    left, top, right, low = box["x"] + 4, box["y"] + 4, box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    return [(left, top), (right, top), (right, low), (left, low)]


def test_it_moves_by_wheel_drag_and_keys(page: Any) -> None:
    box, first = page.locator(".plane").bounding_box(), view(page)
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(middle[0] + 100, middle[1])
    page.mouse.wheel(0, -300)
    near = view(page)
    assert near["scale"] > first["scale"]
    assert near["x"] + 100 / near["scale"] == pytest.approx(first["x"] + 100 / first["scale"], abs=2 / first["scale"])
    page.mouse.down()
    page.mouse.move(middle[0], middle[1], steps=4)
    page.mouse.up()
    dragged = view(page)
    assert (dragged["x"] - near["x"]) * near["scale"] == pytest.approx(100, abs=2)
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowLeft")
    assert view(page)["x"] < dragged["x"]
    page.keyboard.press("-")
    assert view(page)["scale"] < dragged["scale"]
    page.keyboard.press("0")
    assert view(page) == pytest.approx(first)


def test_a_point_tells_its_document_and_opens_it(page: Any) -> None:
    page.locator("#color").select_option("word_count")
    page.locator(".scale").wait_for()
    url = ask(page, "map_document", row=ask(page, "map_points")["rows"][0])["url"]
    ((left, top),) = places(page, {url})
    page.mouse.move(left, top)
    tip = page.locator(".tip")
    sync_api.expect(tip).to_contain_text("word count: ")
    told = tip.locator(".url").inner_text()
    page.mouse.down()
    page.mouse.up()
    pane = page.get_by_label("Reading pane")
    sync_api.expect(pane.locator(".url").first).to_have_text(told, timeout=READ)


def test_a_lasso_counts_and_its_rule_is_used(page: Any) -> None:
    page.keyboard.down("Shift")
    box = page.locator(".plane").bounding_box()
    middle = box["x"] + box["width"] / 2
    corners = [(min(x, middle), y) for x, y in all_of_it(page)]
    lasso(page, corners)
    page.keyboard.up("Shift")
    side = page.get_by_label("Chosen region")
    page.locator("#region-rules table").wait_for()
    points, at = ask(page, "map_points"), view(page)
    count = sum((x - at["x"]) * at["scale"] < 0 for x in points["x"])
    sync_api.expect(side.locator("h2")).to_contain_text(f"{count} documents")
    assert side.locator(".card").count() == min(count, 50)
    page.get_by_role("button", name="Use it").first.click()
    sync_api.expect(page.locator(".changes li").first).to_be_visible()
    sync_api.expect(page.locator("#kept-documents")).to_contain_text("about")


def test_what_is_chosen_is_saved_as_a_training_set(page: Any, tmp_path: Path) -> None:
    junk = tmp_path / "run" / "junk"
    page.locator("#lasso").click()
    box = page.locator(".plane").bounding_box()
    lasso(page, [(min(x, box["x"] + box["width"] / 2), y) for x, y in all_of_it(page)])
    page.locator("#set-folder").fill("junk")
    page.locator("#save-set").click()
    sync_api.expect(page.locator("#set-done")).to_contain_text("obelics fit classifier", timeout=READ)
    assert {path.name for path in junk.iterdir()} == {"region.jsonl.gz", "rest.jsonl.gz"}
    page.locator("#save-set").click()
    sync_api.expect(page.get_by_role("alert")).to_contain_text("is there already")


def test_a_region_of_nothing_is_no_error_and_what_is_in_sight_is_everything(page: Any) -> None:
    page.locator("#lasso").click()
    (left, top), *_ = all_of_it(page)
    lasso(page, [(left, top), (left + 20, top), (left + 20, top + 20)])
    page.get_by_text("No document is inside.").wait_for()
    page.locator("#sight").click()
    sync_api.expect(page.get_by_label("Chosen region").locator("h2")).to_contain_text(
        f"{len(ask(page, 'map_points')['rows'])} documents"
    )


def test_colours_are_told_in_a_legend_with_the_bound_in_force(page: Any) -> None:
    page.locator("#color").select_option("farm_score")
    sync_api.expect(page.locator(".scale .line text")).to_have_text("max 0.95")
    page.locator("#color").select_option("language")
    sync_api.expect(page.locator("#legend li").first).to_contain_text("en")
    page.get_by_role("tab", name="Documents").click()
    page.get_by_role("tab", name="Map").click()
    sync_api.expect(page.locator("#color")).to_have_value("language")
