"""A site that tries each line of SECURITY.md, taken from its WARC record to everything that a person then looks at."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.source import documents
from obelics_pipeline.inspect.tune.server import application
from obelics_pipeline.inspect.tune.workbench import Workbench
from tests.faults.runs import ROOT
from tests.faults.test_hostile_images import bomb_png
from tests.inspect.explain.hostile import PAGE, URL, Elements
from tests.stages.fetch.site import Behaviour, Site, answer, picture, raw, redirect, reset
from tests.stages.read.warcs import record

pytestmark = pytest.mark.slow

HARBOUR = (
    "The harbour was built in the year of the great storm, when the old wall gave way and the boats were driven up the "
    "street as far as the church. What one sees of it now is mostly later: the light, the long pier, and the shed in "
    "which the nets were dried. On Sundays the men sat there and told each other what they had seen."
)
MILL = (
    "Nobody knows who first thought of a mill up here, where there is so little water. The wheel turned in spring and "
    "stood for the rest of the year, and the miller kept bees, mended clocks and wrote letters for others. "
    "His daughter sold it to a painter, and he put in the large window that can be seen from the road."
)
MARKS = '<image> <|endofchunk|> </s> <s> \x1b[2J\x1b]0;title\x07 =HYPERLINK("http://evil.example") {{ 7*7 }} ${7*7}'
SECRET = b"what only the inner network may see"
SECONDS = 240  # for all commands together; the whole takes a fraction of it on a quiet machine


def page(number: int, images: str = "", text: str = "", head: str = "") -> str:
    """Honest enough to be kept, but for what is put in."""
    head = f"<head><title>Page {number}</title>{head}</head>"
    said = f"<p>{HARBOUR}</p><p>This is page {number} of them. {text}</p><p>{MILL}</p>"
    return f"<!doctype html><html lang=en>{head}<body>{said}{images}</body></html>"


@dataclass
class Attack:
    """A finished run over the site; what it and the inner network were asked; what was printed."""

    run: Path
    site: Site
    secret: Site
    printed: str


def pictures(site: Site, secret: Site) -> dict[str, Behaviour]:
    """What the site answers, by path."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{secret.url("/svg")}"/><script>x()</script></svg>'
    entity = '<!DOCTYPE svg [<!ENTITY e SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&e;</svg>'
    gif = b"GIF89a/*" + b"<script>x()</script>" + b"*/=1;"
    return {
        "/good.jpg": answer(200, picture(size=(400, 300))),
        "/inner.jpg": redirect(secret.url("/redirected")),
        "/file.jpg": redirect("file:///etc/passwd"),
        "/loop.jpg": redirect("/loop.jpg"),
        "/bomb.png": answer(200, bomb_png(30_000)),
        "/gzip.png": answer(200, gzip.compress(bytes(50_000_000), 1), Content_Encoding="gzip"),
        "/drip.jpg": raw(b"HTTP/1.1 200 OK\r\n", *[b"X-A: b\r\n"] * 100, pause=0.1),
        "/reset.jpg": reset,
        "/x.svg": answer(200, svg.encode(), Content_Type="image/png"),
        "/entity.svg": answer(200, entity.encode(), Content_Type="image/jpeg"),
        "/both.gif": answer(200, gif, Content_Type="image/gif"),
        "/html.jpg": answer(200, PAGE.encode(), Content_Type="image/jpeg"),
        "/noai.jpg": answer(200, picture(size=(420, 300), colour="blue"), X_Robots_Tag="noai"),
        "/cut.jpg": answer(200, picture(size=(401, 300))[:-200]),
        "/header.jpg": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx"),
    }


def sources(site: Site, secret: Site) -> list[str]:
    """Addresses of images that lead where they must not, or nowhere."""
    port = secret.port
    inner = ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "127.0.0.1.", "0"]
    return [
        *(f"http://{host}:{port}/{n}" for n, host in enumerate(inner)),
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "javascript:x()",
        "data:image/png;base64,AAAA",
        "http://user:password@evil.example/a.jpg\r\nHost: inner",
        "http://evil.example/" + "../" * 50 + "etc/passwd.jpg",
        "http://" + "a" * 5000 + ".example/x.jpg",
    ]


def records(site: Site, secret: Site) -> Iterator[bytes]:
    good = f'<img src="{site.url("/good.jpg")}" width=400 height=300 alt="the harbour">'
    yield record(PAGE.encode(), URL)
    for n, path in enumerate(pictures(site, secret)):
        bad = f'<img src="{site.url(path)}" width=400 height=300 alt="{MARKS[:20]}">'
        yield record(page(n, good + bad).encode(), f"http://evil.example/picture/{n}")
    for n, source in enumerate(sources(site, secret), 100):
        yield record(page(n, f"{good}<img src='{source}' width=400 height=300>").encode(), f"http://evil.example/{n}")
    yield record(page(200, good, MARKS).encode(), "http://evil.example/marks")
    yield record(page(201, good, "‮gpj.exe ⁦ \u2028 &#0; \ufeff").encode(), "http://evil.example/turned‮")
    yield record(page(202, good, "", f'<base href="{secret.url("/")}">').encode(), "http://evil.example/base")
    yield record(page(203, good + "<img src=/beacon.jpg width=400 height=300>", "",
                      f'<base href="{secret.url("/")}">').encode(), "http://evil.example/beacon")  # fmt: skip
    yield record(page(204, good, "x" * 2_000_000).encode(), "http://evil.example/word")
    yield record(("<div>" * 100_000 + page(205, good)).encode(), "http://evil.example/deep")
    yield record(page(206, good, "<b>" * 50_000).encode(), "http://evil.example/unclosed")
    ld = json.dumps({"@context": "x", "license": "javascript:x()", "a": [[[[]]]]}) * 50
    yield record(
        page(207, good, "", f"<script type=application/ld+json>{ld}</script>").encode(), "http://evil.example/ld"
    )
    bomb = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    yield record(gzip.compress(b"<p>" + bytes(200_000_000), 1), "http://evil.example/bomb", headers=bomb)
    yield record(page(208, good).encode(), "file:///etc/passwd")
    yield record(page(209, good).encode(), "javascript:x()//")
    yield record(page(210, good).encode("utf-16"), "http://evil.example/utf-16")
    yield record(page(211, good).encode(), "http://evil.example/" + "y" * 100_000)
    yield b"\x1f\x8b\x08\x00 no gzip member at all\r\n\r\n"
    yield record(page(212, good).encode(), "http://evil.example/last")


@pytest.fixture(scope="module")
def attack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attack]:
    folder = tmp_path_factory.mktemp("hostile")
    with Site(fallback=answer(200, SECRET)) as secret, Site() as site:
        site.pages |= pictures(site, secret)
        (folder / "evil.warc").write_bytes(b"".join(records(site, secret)))
        sets = [
            *(f"fetch.allow_private=['127.0.0.1:{site.port}']", "fetch.timeout_seconds=2", "fetch.retries=0"),
            *(
                "fetch.max_host_failures=100",
                "dedup.enabled=false",
                "site.document={}",  # its pages have the same text
                "images.min_side=10",
                "filters.document.farm_score.max=1",
            ),
        ]
        command = [sys.executable, "-m", "obelics_pipeline", "run", "default", "--input", str(folder / "evil.warc")]
        command += ["--output", str(folder / "run"), "--sample", "1.0", "--workers", "2"]
        command += [part for value in sets for part in ("--set", value)]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "no_proxy": "*"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        yield Attack(folder / "run", site, secret, done.stdout + done.stderr)


def index(attack: Attack) -> list[dict[str, object]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, object]] = pq.read_table(attack.run / "index.parquet").to_pylist()
    return rows


def test_the_inner_network_is_never_asked(attack: Attack) -> None:
    assert [request.path for request in attack.secret.log] == []


def test_nothing_of_the_machine_or_the_inner_network_is_in_the_run(attack: Attack) -> None:
    wanted = (SECRET, b"root:x:0:0")
    for path in attack.run.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(secret in data for secret in wanted), path


def test_each_attack_costs_itself_and_the_last_page_is_there(attack: Attack) -> None:
    urls = {row["url"] for row in index(attack)}
    assert "http://evil.example/last" in urls
    assert {f"http://evil.example/{n}" for n in range(100, 108)} <= urls
    manifest = json.loads((attack.run / "manifest.json").read_text())
    for noun, counts in manifest["ledgers"].items():
        Ledger.from_json(noun, counts).balanced()
    assert main(["validate", str(attack.run)]) == 0


def test_only_the_good_pictures_are_kept(attack: Attack) -> None:
    good = picture(size=(400, 300))
    for path in (attack.run / "images").glob("*/*.pack"):
        assert not path.read_bytes().replace(good, b"")


def test_our_marks_in_a_text_are_text(attack: Attack) -> None:
    """That they are none to a model is shown in tests/models/packed_flamingo/test_document_tokens.py."""
    (found,) = [one.value for one in documents(attack.run) if "evil.example/marks" in one.value["general_metadata"]]
    text = "".join(text for text in found["texts"] if text is not None)
    assert "<|endofchunk|>" in text


def harmless(html: str) -> None:
    """No script of the site's, nothing that runs or loads."""
    page = Elements(html)
    for tag, attributes in page.found:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert tag not in ("iframe", "object", "embed", "base"), tag
        for name in ("src", "href", "srcset", "action"):
            value = attributes.get(name) or ""
            assert not re.match(r"\s*(javascript:|file:|http://(evil|127|local))", value), (tag, value[:100])
    for script in page.inside.get("script", []):
        assert "x()" not in script
    assert "\u202e" not in html


def test_the_report_and_the_card_show_it_and_it_does_nothing(attack: Attack, tmp_path: Path) -> None:
    assert main(["report", str(attack.run), "--output", str(tmp_path / "report.html")]) == 0
    harmless((tmp_path / "report.html").read_text("utf-8"))
    assert main(["card", str(attack.run), "--output", str(tmp_path)]) == 0
    card = (tmp_path / "README.md").read_text("utf-8")
    assert not re.search(r"(?<!\\)<(script|img)", card)
    assert "\u202e" not in card


def test_explanations_show_it_and_it_does_nothing(
    attack: Attack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = ["http://evil.example/marks", "http://evil.example/100", "http://evil.example/word", URL]
    for n, url in enumerate(urls):
        target = tmp_path / f"{n}.html"
        main(["explain", str(attack.run), url, "--html", str(target)])
        said = capsys.readouterr()
        assert "\x1b[2J" not in said.out + said.err
        if target.exists():
            harmless(target.read_text("utf-8"))


def test_the_page_of_tune_serves_it_as_data_alone(attack: Attack) -> None:
    with TestClient(application(Workbench(attack.run, 1), "token"), base_url="http://127.0.0.1") as client:
        about = client.post("/token/api/about").json()["answer"]
        assert about["documents"] > 0
        for row in index(attack)[:5]:
            answered = client.post("/token/api/document", json={"doc_id": row["doc_id"]})
            assert answered.headers["content-type"].startswith("application/json")
            assert answered.headers["x-content-type-options"] == "nosniff"


def test_in_a_browser_none_of_it_runs_and_nobody_is_asked(attack: Attack, tmp_path: Path) -> None:
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    from tests.inspect.tune.browser.conftest import launched, serving, watched
    from tests.inspect.tune.browser.test_page import open_tab

    assert main(["report", str(attack.run), "--output", str(tmp_path / "report.html")]) == 0
    for n, url in enumerate(
        [URL, *(f"http://evil.example/{name}" for name in ("marks", "100", "picture/8", "turned\u202e", "ld"))]
    ):
        main(["explain", str(attack.run), url, "--html", str(tmp_path / f"{n}.html")])
    files = sorted(tmp_path.glob("*.html"))
    assert len(files) > 4
    armed = "for (const name of ['x', 'alert', 'open']) window[name] = () => { window.attacked = name }"
    asked = len(attack.site.log)
    with launched() as browser:
        for file in files:
            with watched(browser, file.as_uri()) as tab:
                tab.add_init_script(armed)
                tab.goto(file.as_uri())
                shown = tab.locator("details")
                for i in range(min(shown.count(), 20)):
                    shown.nth(i).evaluate("one => one.open = true")
                assert tab.evaluate("[window.attacked, location.href]") == [None, file.as_uri()]
        with serving(attack.run) as address, watched(browser, address) as tab:
            tab.add_init_script(armed)
            tab.goto(address)
            tab.locator(".histogram").wait_for()
            for name in ("Paragraphs", "Images", "Duplicates", "Overlap", "Compare", "Marks", "Documents"):
                open_tab(tab, name)
            tab.locator(".card .url").first.click()
            for _ in range(10):
                tab.get_by_label("Reading pane").locator(".node p").first.wait_for()
                tab.keyboard.press("j")
            assert tab.evaluate("window.attacked") is None
    assert len(attack.site.log) == asked
    assert attack.secret.log == []


def test_the_terminal_is_not_steered(attack: Attack) -> None:
    assert "\x1b[2J" not in attack.printed
    assert "\x1b]0;" not in attack.printed
