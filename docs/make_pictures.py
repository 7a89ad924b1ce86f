"""Makes the pictures of these pages: `python docs/make_pictures.py RUN`, of a finished run with --sample; or
`--spike demo-output/training/spike.html`, the one of the demo's spike alone.

Serves `obelics tune` on a copy of the run, writes its report and one document's account, and takes pictures of them by
the Chromium of this machine. Needs the extras `tune` and `dev`, and the run's WARC files where they were.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.run_tables.documents import document_table

PICTURES = Path(__file__).parent / "pictures"
SIZE = {"width": 1280, "height": 860}  # pixels
COLOURS = 128  # of a picture: the pages are flat, and so the files are small
TABS = ("Documents", "Paragraphs", "Images", "Duplicates", "Overlap", "Compare", "Marks", "Map")


def main() -> None:
    """Takes all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("run", type=Path, nargs="?", metavar="RUN")
    what.add_argument("--spike", type=Path, metavar="FILE")
    parser.add_argument("--chromium", default=shutil.which("chromium"), metavar="FILE")
    asked = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=asked.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        if asked.spike is not None:
            page.goto(asked.spike.resolve().as_uri())
            take(page, "explain-spike")
            browser.close()
            return
        run = Path(scratch) / "sample"
        shutil.copytree(asked.run, run)
        obelics("report", run.name, at=run.parent)
        page.goto((run / "report.html").as_uri())
        take(page, "report")
        obelics("explain", run.name, dropped(run), "--html", "account.html", at=run.parent)
        page.goto((run.parent / "account.html").as_uri())
        take(page, "explain")
        with tuning(run) as address:
            page.goto(address)
            tuned(page)
        browser.close()


def tuned(page: Page) -> None:
    """The page of `obelics tune`, tab by tab, with some documents marked and a threshold moved."""
    page.get_by_role("tab", name="Documents").click()
    page.locator(".card").first.wait_for()
    take(page, "tune-documents")
    page.locator(".card").last.click()
    page.locator("#reading img").first.wait_for()
    page.wait_for_timeout(500)
    take(page, "tune-reading")
    page.keyboard.press("b")
    page.keyboard.press("Escape")
    for tab in TABS[1:]:
        page.get_by_role("tab", name=tab).click()
        if tab == "Map":
            page.locator("#make-map").click()
            page.locator(".plane").wait_for(timeout=300_000)
            page.get_by_label("colour").select_option(label="farm score")
        page.wait_for_timeout(1500)
        take(page, f"tune-{tab.lower()}")


def dropped(run: Path) -> str:
    """The first document that was taken for generated."""
    documents = document_table(RunFolder(run))
    return str(next(row["doc_id"] for row in documents.to_pylist() if row["reason"] == "farm_score"))


def take(page: Page, name: str) -> None:
    """One picture, in few colours."""
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)
    print(f"{PICTURES / name}.png")


def obelics(*arguments: str, at: Path) -> None:
    """A command of the project, given in a folder."""
    subprocess.run([sys.executable, "-m", "obelics_pipeline", *arguments], check=True, cwd=at)


@contextmanager
def tuning(run: Path) -> Iterator[str]:
    """The address of the page, while it is served."""
    command = [sys.executable, "-m", "obelics_pipeline", "tune", run.name, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=run.parent) as served:
        assert served.stdout is not None
        try:
            yield next(found[0] for line in served.stdout if (found := re.search(r"http://\S+/", line)))
        finally:
            served.terminate()


if __name__ == "__main__":
    main()
