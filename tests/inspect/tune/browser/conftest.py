"""A sampled run of the demo behind `obelics tune`, and a browser to look at it with."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
sync_api.expect.set_options(timeout=120_000)  # ms: counts follow slowly on a busy machine
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ROOT = Path(__file__).parents[4]


@pytest.fixture
def copy(sampled_run: Path, tmp_path: Path) -> Path:
    """The demo's site, sampled: a copy, for marks and dry runs are kept beside it."""
    return Path(shutil.copytree(sampled_run, tmp_path / "run"))


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of the page of a run; what is saved lands in its folder."""
    command = [sys.executable, "-u", "-m", "obelics_pipeline", "tune", str(folder), "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "no_proxy": "*"}
    server = subprocess.Popen(command, cwd=folder.parent, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        said = ""
        for line in server.stdout:
            said += line
            if found := re.search(r"http://\S+", line):
                yield found[0]
                return
        raise AssertionError(f"obelics tune ended: {said}")
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def launched() -> Iterator[Any]:
    """A browser; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def watched(browser: Any, own: str = "http://127.0.0.1:") -> Iterator[Any]:
    """An empty page; that nothing of it fails, opens a dialog or asks for what is not its own is checked at its end."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(120_000)  # ms, on a busy machine
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}") or dialog.dismiss())
    page.on("request", lambda asked: asked.url.startswith(own) or wrong.append(f"asked {asked.url}"))
    page.on("console", lambda said: "Content Security Policy" in said.text and wrong.append(said.text))
    yield page
    context.close()
    assert wrong == []


@pytest.fixture(scope="module")  # and no longer: Playwright's event loop would be in the way of other tests
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    with watched(browser) as page:
        yield page


@pytest.fixture(scope="module")
def shared_url(sampled_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for tests that keep nothing: no mark, no dry run, no file."""
    with serving(Path(shutil.copytree(sampled_run, tmp_path_factory.mktemp("shared") / "run"))) as url:
        yield url


@pytest.fixture
def page(tab: Any, shared_url: str) -> Any:
    """The page of a run, open as it is at first."""
    return opened(tab, shared_url)


@pytest.fixture
def own_page(tab: Any, copy: Path) -> Iterator[Any]:
    """The page of the test's own copy of the run, which it may change."""
    with serving(copy) as url:
        yield opened(tab, url)


def opened(tab: Any, url: str) -> Any:
    tab.goto(url)
    tab.locator(".histogram").wait_for()
    return tab
