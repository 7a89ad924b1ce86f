"""What a person does on the page of `obelics tune`, in a browser."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config.yaml_file import bundled_configs
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.run_tables.documents import document_table
from tests.inspect.explain.hostile import PAGE, URL
from tests.inspect.tune.browser.conftest import serving, sync_api
from tests.sampled import run_sample
from tests.stages.read.warcs import record

pytestmark = pytest.mark.slow
DRY_RUN = 600_000  # ms that a dry run may take on a busy machine


def number(page: Any, thing: str) -> int:
    """How much the header says is kept."""
    return int(re.sub(r"\D", "", page.locator(f"#kept-{thing}").inner_text()))


def after(page: Any, thing: str, act: Callable[[], Any]) -> tuple[int, int]:
    """What is kept before and after an act that changes it."""
    before = number(page, thing)
    act()
    as_before = re.compile(rf"^(about )?{before:,}$")
    sync_api.expect(page.locator(f"#kept-{thing}")).not_to_have_text(as_before, timeout=20_000)
    return before, number(page, thing)


def open_tab(page: Any, name: str, rule: str | None = None) -> None:
    page.get_by_role("tab", name=name).click()
    if rule is not None:
        page.get_by_role("button", name=rule, exact=True).click()
        page.get_by_role("slider").first.wait_for()


def write(page: Any, field: str, value: object) -> None:
    page.locator(field).fill(str(value))
    page.keyboard.press("Tab")


def run_dry(page: Any) -> None:
    page.locator(".state.exact", has_text="dry run").wait_for(timeout=DRY_RUN)


def press(page: Any, name: str, times: int) -> None:
    page.get_by_role("slider").first.focus()
    for _ in range(times):
        page.keyboard.press(name)


def test_it_opens_with_the_rule_that_drops_most_and_the_runs_own_counts(page: Any, sampled_run: Path) -> None:
    documents = document_table(RunFolder(sampled_run))
    assert number(page, "documents") == documents["stage"].null_count
    assert "exact" in page.locator(".state").inner_text()
    drops = [int(cell) for cell in page.locator(".rules td.drops").all_inner_texts()]
    chosen = page.locator(".rules tbody tr.chosen td.drops").inner_text()
    assert int(chosen) == max(drops) > 0


def test_a_document_threshold_moves_by_keyboard(page: Any) -> None:
    open_tab(page, "Documents", "word count")
    before, kept = after(page, "documents", lambda: press(page, "PageUp", 8))
    assert kept < before
    assert "about" in page.locator("#kept-documents").inner_text()
    assert "filters.document.word_count.min" in page.locator(".changes").inner_text()
    page.keyboard.press("Home")
    page.locator("#undo").click()
    sync_api.expect(page.locator("#kept-documents")).to_have_text(str(before))


def test_a_document_threshold_is_dragged_and_counts_follow_before_it_is_let_go(page: Any) -> None:
    open_tab(page, "Documents", "farm score")
    line = page.locator(".bound path").bounding_box()

    def drag() -> None:
        page.mouse.move(line["x"], line["y"] + 50)
        page.mouse.down()
        page.mouse.move(line["x"] - 350, line["y"] + 50, steps=10)

    before, during = after(page, "documents", drag)
    assert during < before
    value = page.locator("#bound-max").input_value()
    page.mouse.up()
    page.mouse.move(line["x"], line["y"] + 50)
    assert page.locator("#bound-max").input_value() == value
    assert float(value) < 0.95


def test_a_threshold_of_paragraphs_moves_tokens(page: Any) -> None:
    open_tab(page, "Paragraphs", "special character ratio")
    drops = page.locator(".rules tbody tr.chosen td.drops")
    before, kept = after(page, "tokens", lambda: write(page, "#bound-max", 0.18))
    assert kept < before
    assert int(drops.inner_text()) > 0


def test_a_threshold_of_images_moves_images(page: Any) -> None:
    open_tab(page, "Images", "shorter side")
    before, kept = after(page, "images", lambda: write(page, "#bound-min", 500))
    assert kept < before
    drops = page.locator(".rules tbody tr.chosen td.drops")
    sync_api.expect(drops).not_to_have_text("0")


def test_a_kind_of_page_narrows_the_documents_beside_a_line(page: Any) -> None:
    open_tab(page, "Documents", "word count")
    cards = page.locator(".near .card")
    sync_api.expect(cards.filter(has_text="article").first).to_be_visible()
    page.locator("#page-type").select_option("documentation")
    sync_api.expect(cards.filter(has_not_text="documentation")).to_have_count(0)
    sync_api.expect(cards.filter(has_text="documentation").first).to_be_visible()


def test_a_bound_of_one_language_is_its_own(page: Any) -> None:
    open_tab(page, "Documents", "stopword ratio")
    assert page.locator("#language").input_value() == "en"
    before, kept = after(page, "documents", lambda: write(page, "#bound-min", 0.58))
    assert kept < before
    assert "filters.document.stopword_ratio.languages.en.min" in page.locator(".changes").inner_text()
    after(page, "documents", lambda: page.get_by_role("button", name="no bounds in en").click())
    assert number(page, "documents") == before


def test_bounds_are_taken_away_and_added(page: Any) -> None:
    before, kept = after(page, "documents", lambda: page.get_by_role("button", name="no max").click())
    assert kept > before
    assert page.get_by_role("slider").count() == 0
    page.get_by_role("button", name="+ max").click()
    page.get_by_role("slider").wait_for()
    assert after(page, "documents", lambda: write(page, "#bound-max", 0.95)) == (kept, before)
    assert page.locator(".changes li").count() == 0


def test_a_dry_run_tells_what_a_run_of_the_saved_config_keeps(
    own_page: Any, copy: Path, warcs: list[Path], proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_tab(own_page, "Documents", "farm score")
    write(own_page, "#bound-max", 0.4)
    open_tab(own_page, "Images", "shorter side")
    write(own_page, "#bound-min", 450)
    open_tab(own_page, "Duplicates")
    own_page.locator("[id='dedup.paragraphs.min_count']").fill("2")
    own_page.keyboard.press("Tab")
    own_page.locator("#dry-run").click()
    run_dry(own_page)
    assert "about" not in own_page.locator("#kept-documents").inner_text()
    kept = {thing: number(own_page, thing) for thing in ("documents", "images")}

    own_page.locator("summary", has_text="Save").click()
    own_page.locator("#save").click()
    own_page.get_by_text("Written").wait_for()
    saved = copy / "tuned.yaml"
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    again = document_table(RunFolder(run_sample(warcs, tmp_path / "again", str(saved))))
    of_kept = [row for row in again.select(["stage", "images"]).to_pylist() if row["stage"] is None]
    assert kept == {"documents": len(of_kept), "images": sum(row["images"] for row in of_kept)}

    own_page.locator("#save").click()
    own_page.get_by_role("alert").get_by_text("is there already").wait_for()
    own_page.locator("#replace").check()
    own_page.locator("#save").click()
    own_page.get_by_text("Written").wait_for()
    sync_api.expect(own_page.get_by_role("alert")).to_be_hidden()


def test_a_dry_run_begins_by_itself_and_tells_of_duplicates(own_page: Any) -> None:
    open_tab(own_page, "Duplicates")
    cells = own_page.locator(".duplicates tbody tr", has_text="dedup.text.threshold").locator("td.number")
    sync_api.expect(cells.first).to_have_text(re.compile(r"\d"))
    before = int(cells.first.inner_text())
    own_page.locator("[id='dedup.text.threshold']").fill("0.3")
    own_page.keyboard.press("Tab")
    run_dry(own_page)
    own_page.get_by_text("of a dry run with these settings").wait_for()
    sync_api.expect(cells.first).not_to_have_text(str(before))
    assert int(cells.first.inner_text()) > before


def test_documents_are_read_and_marked(own_page: Any, copy: Path) -> None:
    own_page.locator(".card.out .url").first.click()
    pane = own_page.get_by_label("Reading pane")
    pane.locator(".node p").first.wait_for()
    assert "farm score" in pane.inner_text()
    own_page.keyboard.press("b")
    sync_api.expect(pane.get_by_role("button", name="Bad")).to_have_attribute("aria-pressed", "true")
    pane.get_by_role("button", name="Close").click()
    own_page.locator(".card.in .url").first.click()
    pane.locator(".node p").first.wait_for()
    own_page.keyboard.press("g")
    sync_api.expect(pane.get_by_role("button", name="Good")).to_have_attribute("aria-pressed", "true")
    sync_api.expect(pane.locator("img").first).to_have_js_property("complete", True)
    assert pane.locator("img").first.evaluate("image => image.naturalWidth") > 0
    assert len((copy / "tune" / "marks.jsonl").read_text().splitlines()) == 2

    title = pane.locator("h2").inner_text()
    own_page.keyboard.press("j")
    sync_api.expect(pane.locator("h2")).not_to_have_text(title)
    own_page.keyboard.press("k")
    sync_api.expect(pane.locator("h2")).to_have_text(title)
    own_page.keyboard.press("Escape")
    sync_api.expect(pane).to_be_hidden()

    open_tab(own_page, "Marks")
    own_page.get_by_text("1 good, 1 bad").wait_for()
    farm = own_page.locator(".judged tr", has_text="farm score")
    assert "100% (1 of 1" in farm.inner_text()
    own_page.locator("#suggest-rule").select_option(label="farm score")
    own_page.get_by_role("button", name="Suggest").click()
    own_page.locator("#suggested").wait_for()
    own_page.locator("#use").click()
    assert "filters.document.farm_score.max" in own_page.locator(".changes").inner_text()

    own_page.locator(".cards .url").first.click()
    pane.locator(".node p").first.wait_for()
    own_page.keyboard.press("u")
    own_page.get_by_text(re.compile("1 good, 0 bad|0 good, 1 bad")).wait_for()


def test_a_threshold_for_a_budget_of_tokens_leaves_no_more(page: Any) -> None:
    open_tab(page, "Marks")
    page.locator("#suggest-rule").select_option(label="word count")
    page.locator("#suggest-goal").select_option("tokens")
    page.locator("#suggest-value").fill("15000")
    page.get_by_role("button", name="Suggest").click()
    _, kept = after(page, "tokens", lambda: page.locator("#use").click())
    assert 0 < kept <= 15_000


def test_overlap_and_comparison_follow_the_settings(page: Any) -> None:
    open_tab(page, "Documents", "word count")
    before, kept = after(page, "documents", lambda: write(page, "#bound-min", 300))
    open_tab(page, "Overlap")
    page.locator(".overlap tbody tr").nth(1).wait_for()
    assert page.locator(".overlap tbody tr", has_text="word count").locator("td.own").inner_text() != "·"
    open_tab(page, "Compare")
    page.get_by_text(f"Only A keeps: {before - kept} documents").wait_for()
    page.locator("#remember").click()
    page.get_by_text("Only A keeps: 0 documents").wait_for()
    page.locator("#undo").click()
    page.get_by_text(f"Only now keeps: {before - kept} documents").wait_for()


def test_a_reload_keeps_the_settings(page: Any) -> None:
    open_tab(page, "Documents", "word count")
    _, kept = after(page, "documents", lambda: write(page, "#bound-min", 300))
    page.reload()
    sync_api.expect(page.locator(".changes")).to_contain_text("filters.document.word_count.min")
    sync_api.expect(page.locator("#kept-documents")).to_contain_text(str(kept))


def test_a_wrong_value_is_said_in_a_line_that_goes_away(page: Any) -> None:
    open_tab(page, "Documents", "language score")
    write(page, "#bound-min", 7)
    alert = page.get_by_role("alert")
    sync_api.expect(alert).to_contain_text("language.min_score")
    assert "\n" not in alert.inner_text()
    write(page, "#bound-min", 0.3)
    sync_api.expect(alert).to_be_hidden()


@pytest.mark.parametrize("typed", ["", "e", "-", "1e999"])
def test_an_emptied_or_impossible_bound_does_not_take_the_rule_away(page: Any, typed: str) -> None:
    open_tab(page, "Documents", "word count")
    before, field = number(page, "documents"), page.locator("#bound-min")
    bound = field.input_value()
    field.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(typed)
    page.keyboard.press("Tab")
    alert = page.get_by_role("alert")
    sync_api.expect(alert).to_have_text("bound-min: must be a number; × takes a bound away")
    sync_api.expect(page.locator("#bound-min")).to_have_value(bound)
    assert page.locator(".changes li").count() == 0
    assert number(page, "documents") == before
    write(page, "#bound-min", 300)
    sync_api.expect(alert).to_be_hidden()
    sync_api.expect(page.locator(".changes")).to_contain_text("filters.document.word_count.min 300")


def test_what_comes_from_the_web_is_only_shown(tab: Any, tmp_path: Path) -> None:
    """That no other host is asked and no dialog opens is checked when the fixture ends."""
    warc = tmp_path / "hostile.warc.gz"
    page = PAGE.replace("x()", "pwned=1").replace("water", "w" * 100_000, 1)
    warc.write_bytes(record(page.encode(), URL, compressed=True))
    run = tmp_path / "run"
    sets = ["--set", "fetch.enabled=false", "--set", "filters.document.word_count.min=10000"]
    assert main(["run", "default", "--input", str(warc), "--output", str(run), "--workers", "1", *sets]) == 0
    with serving(run) as url:
        tab.goto(url)
        open_tab(tab, "Documents", "word count")
        for name, rule in (("Paragraphs", "special character ratio"), ("Documents", "word count")):
            open_tab(tab, name, rule)
            tab.locator(".card").first.wait_for()
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        tab.locator(".card .url").first.click()
        pane = tab.get_by_label("Reading pane")
        pane.locator(".node p").first.wait_for()
        assert "<script>pwned=1</script>" in pane.inner_text()
        assert "nobody in the village" in pane.inner_text()
        assert "not fetched" in pane.inner_text()
        assert tab.evaluate("document.querySelector('main').scrollWidth <= innerWidth")
        assert tab.evaluate("document.querySelector('#reading').scrollWidth <= innerWidth")
        for name in ("Images", "Duplicates", "Overlap", "Compare", "Marks"):
            open_tab(tab, name)
        assert tab.evaluate("window.pwned === undefined")
        assert tab.locator("script").count() == 1


def test_no_text_of_the_page_is_read_as_html() -> None:
    from obelics_pipeline.inspect.tune.server import PAGE as FOLDER

    code = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.js"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", code)


def test_a_config_file_is_set_beside_the_page(own_page: Any, tmp_path: Path) -> None:
    text = (bundled_configs() / "default.yaml").read_text()
    (tmp_path / "other.yaml").write_text(text.replace("word_count: { min: 10 }", "word_count: { min: 300 }"))
    open_tab(own_page, "Compare")
    own_page.locator("#config-file").fill(str(tmp_path / "other.yaml"))
    own_page.get_by_role("button", name="A: this config").click()
    own_page.get_by_text("filters.document.word_count.min 300").wait_for()
    sync_api.expect(own_page.locator("h3", has_text="Only A keeps")).to_contain_text(": 0 documents")
    sync_api.expect(own_page.locator("h3", has_text="Only now keeps")).not_to_contain_text(": 0 documents")
    own_page.locator("#config-file").fill("obelics")
    own_page.get_by_role("button", name="A: this config").click()
    sync_api.expect(own_page.get_by_role("alert")).to_contain_text("run the sample again")
