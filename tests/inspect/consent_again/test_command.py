"""Asking again: each host and address once, what it says now counts, and forget obeys it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.inspect.consent_again import command
from obelics_pipeline.inspect.consent_again.answer import REFUSALS, Subject, refuses
from obelics_pipeline.inspect.consent_again.answers import last_round, page_answers
from obelics_pipeline.inspect.consent_again.ask import Asker
from obelics_pipeline.inspect.consent_again.command import Asked, ask_again
from obelics_pipeline.inspect.published.table import table_row
from obelics_pipeline.stages.fetch.robots_observations import OBSERVATIONS
from obelics_pipeline.stages.fetch.rule_files import RuleFiles
from tests.stages.fetch.site import Site, answer, config, redirect, reset, slow
from tests.stages.shard.runs import document, image, make_run

HTML = {"Content_Type": "text/html"}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(fallback=answer(200, b"<p>Hello", **HTML)) as served:
        served.pages |= {name: answer(404) for name in ("/robots.txt", "/ai.txt", "/.well-known/tdmrep.json")}
        yield served


def page(site: Site, number: int) -> Document:
    """A page of the site with a text and two images of the site."""
    made = document(number, [TextNode(f"Text {number}."), *(image(2 * number + i) for i in range(2))])
    made.url = site.url(f"/page-{number}")
    for node in made.nodes[1:]:
        node.src = site.url(f"/image-{node.src.rpartition('/')[2]}")  # type: ignore[union-attr]
    made.general["consent"] = {"checked": "2024-05-06", "robots_txt": "allowed", "tdm": "unset"}
    return made


@pytest.fixture
def run(site: Site, tmp_path: Path) -> Path:
    """A finished run of four pages."""
    settings = RunConfig(fetch=config(site, buckets=2))
    make_run(tmp_path / "run", [page(site, number) for number in range(4)], 2, settings)
    (tmp_path / "run/config.yaml").write_text(dump_config(settings))
    return tmp_path / "run"


def said(site: Site, subject: Subject, **changes: Any) -> str:
    """What one address answers."""
    rows: list[dict[str, Any]] = []
    with TemporaryFile() as rules:
        Asker(config(site, **changes), ["ccbot"], RuleFiles(rules), rows.append).ask([subject])
    (row,) = rows
    assert row["refused"] == refuses(row["said"])
    return str(row["said"])


@pytest.mark.parametrize(
    ("path", "behaviour", "page", "word"),
    [
        ("/x", answer(200), True, "allowed"),
        ("/robots.txt", answer(200, b"User-agent: *\nDisallow: /x"), False, "robots_txt"),
        ("/robots.txt", answer(200, b"User-agent: ccbot\nDisallow: /"), True, "robots_txt"),
        ("/robots.txt", answer(200, b"User-agent: ccbot\nDisallow: /"), False, "allowed"),
        ("/robots.txt", answer(503), True, "robots_unavailable"),
        ("/ai.txt", answer(200, b"User-agent: *\nDisallow: *"), False, "ai_txt"),
        (
            "/.well-known/tdmrep.json",
            answer(200, b'[{"location": "/x", "tdm-reservation": 1}]'),
            True,
            "tdm_reserved",
        ),
        ("/x", answer(200, X_Robots_Tag="noai"), True, "noai_header"),
        ("/x", answer(200, X_Robots_Tag="noindex"), True, "allowed"),
        ("/x", answer(200, X_Robots_Tag="noindex"), False, "noindex_header"),
        ("/x", answer(200, X_Robots_Tag="otherbot: noai"), False, "allowed"),
        ("/x", answer(200, tdm_reservation="1"), False, "tdm_reserved"),
        ("/x", answer(200, b"<meta name=robots content=noai>", **HTML), True, "noai_meta"),
        ("/x", answer(200, b"<meta name=robots content=noai>", **HTML), False, "allowed"),
        ("/x", answer(404), True, "http_404"),
        ("/x", answer(404, X_Robots_Tag="noai"), True, "http_404"),
        ("/x", reset, True, "reset"),
        ("/x", redirect("/y"), True, "allowed"),
        ("/x", redirect("/x"), True, "too_many_redirects"),
    ],
)  # fmt: skip
def test_each_way_of_saying_no_is_heard(site: Site, path: str, behaviour: Any, page: bool, word: str) -> None:
    site.pages[path] = behaviour
    assert said(site, Subject(site.url("/x"), page, not page)) == word


def test_what_robots_forbids_is_not_asked_for(site: Site) -> None:
    site.pages["/robots.txt"] = answer(200, b"User-agent: *\nDisallow: /")
    assert said(site, Subject(site.url("/x"), True, False)) == "robots_txt"
    assert site.asked("/x") == 0


def test_a_host_that_does_not_answer_is_left_alone(site: Site) -> None:
    rows: list[dict[str, Any]] = []
    site.fallback = slow(1.0, answer(200))
    with TemporaryFile() as rules:
        settings = config(site, max_host_failures=2, threads=1, timeout_seconds=0.3)
        Asker(settings, [], RuleFiles(rules), rows.append).ask(
            [Subject(site.url(f"/{i}"), False, True) for i in range(5)]
        )
    assert sorted(row["said"] for row in rows) == ["host_down"] * 3 + ["timeout"] * 2


def test_a_failure_is_no_refusal() -> None:
    assert not any(map(refuses, ("timeout", "http_404", "robots_unavailable", "host_down", "allowed")))
    assert all(map(refuses, (*REFUSALS, "noai_header")))


def test_an_unchanged_web_changes_nothing(run: Path, site: Site) -> None:
    asked = ask_again(str(run), lambda line: None)
    assert (asked.said, asked.refused) == ({"allowed": 12}, {})
    assert len(list(asked.lines("run"))) == 1
    assert site.asked("/robots.txt") == 1  # once for the host, whatever it has
    assert max(site.asked(f"/page-{number}") for number in range(4)) == 1
    rows = pq.read_table(run / "consent-again/answers.parquet").to_pylist()
    (first,) = [row for row in rows if row["url"].endswith("/page-0")]
    assert (first["before"], first["before_day"]) == ("robots_txt: allowed; tdm: unset", "2024-05-06")
    assert (first["said"], first["robots_txt"], first["ai_txt"]) == ("allowed", "none", "none")
    assert len(first["day"]) == 10


def test_what_changed_is_written_with_its_day_and_the_line_that_obeys(run: Path, site: Site) -> None:
    site.pages["/robots.txt"] = answer(200, b"User-agent: *\nDisallow: /page-1\nDisallow: /image-4")
    asked = ask_again(str(run), lambda line: None)
    changed = pq.read_table(asked.changed).to_pylist()  # type: ignore[arg-type]
    assert [(row["url"], row["said"]) for row in changed] == [
        (site.url("/image-4.jpeg"), "robots_txt"),
        (site.url("/page-1"), "robots_txt"),
    ]
    assert all(row["day"] for row in changed)
    assert list(asked.lines("out"))[1].endswith(f": obelics forget out --urls {run}/consent-again/urls.txt")
    assert asked.urls.read_text().splitlines() == [row["url"] for row in changed]
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert (events[-1]["event"], events[-1]["refused"]) == ("consent_asked", {"robots_txt": 2})


def test_yes_obeys_by_forget(run: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.pages["/robots.txt"] = answer(200, b"User-agent: *\nDisallow: /page-1\nDisallow: /image-4")
    assert main(["consent", str(run), "--again", "--yes"]) == 0
    assert "2 may not be used any more" in capsys.readouterr().out
    kept = list(all_documents(run))
    assert [item.row["url"] for item in kept] == [site.url(f"/page-{number}") for number in (0, 2, 3)]
    assert site.url("/image-4.jpeg") not in kept[1].value["images"]
    for path in run.rglob("*"):
        if path.is_file() and "forgotten" not in path.parts:
            assert b"/page-1" not in path.read_bytes(), path
    assert main(["consent", str(run)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "allowed: 10"  # three pages, and seven images


def test_a_round_that_was_stopped_asks_nobody_twice(run: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    real, told = command._Journal.add, []

    def stop(journal: Any, row: dict[str, Any]) -> None:
        real(journal, row)
        told.append(row["url"])
        if len(told) == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(command._Journal, "add", stop)
        ask_again(str(run), lambda line: None)
    assert not (run / "consent-again/answers.parquet").exists()
    first = {path for path in told if site.asked(path.removeprefix(site.url(""))) == 1}
    assert len(first) >= 5
    asked = ask_again(str(run), lambda line: None)
    assert asked.said == {"allowed": 12}
    assert {site.asked(path.removeprefix(site.url(""))) for path in told} == {1}
    assert not (run / "consent-again/asking").exists()


def test_a_round_that_is_finished_is_asked_anew(run: Path, site: Site) -> None:
    ask_again(str(run), lambda line: None)
    site.pages["/page-2"] = answer(200, X_Robots_Tag="noai")
    assert ask_again(str(run), lambda line: None).refused == {"noai_header": 1}
    assert site.asked("/page-0") == 2


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--yes"], "--yes: valid only with --again"),
        ([], "nobody was asked again yet; add --again"),
    ],
)
def test_wrong_commands_are_told_in_one_line(
    run: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], part: str
) -> None:
    assert main(["consent", str(run), *arguments]) == 2
    assert part in capsys.readouterr().err


def test_without_a_reader_of_robots_nobody_is_asked(
    run: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "protego", None)
    assert main(["consent", str(run), "--again"]) == 2
    assert "pip install 'obelics-pipeline[images]'" in capsys.readouterr().err
    assert site.log == []


def test_the_published_row_says_what_was_heard_and_answered(run: Path, site: Site) -> None:
    ask_again(str(run), lambda line: None)
    answers = last_round(run)
    assert answers is not None
    item = next(iter(all_documents(run)))
    again = page_answers(answers, [item.row["url"]])
    row = table_row(item, [], again[item.row["url"]])
    assert (row["captured"], row["robots_txt"], row["tdm"]) == ("2024-05-06", "allowed", "unset")
    assert (row["answered_again"], row["ai_txt_again"]) == ("allowed", "none")
    assert row["asked_again"] == pq.read_table(answers)["day"][0].as_py()
    assert table_row(item, [])["asked_again"] is None


def test_of_an_image_the_last_day_of_the_fetch_is_what_was_known(tmp_path: Path) -> None:
    rows = [
        {"origin": "http://x.example:80/", "robots_txt": "rules", "ai_txt": None, "tdm": "none", "day": day}
        for day in ("2026-02-03", "2026-01-02")
    ]
    pq.write_table(pa.Table.from_pylist(rows, OBSERVATIONS), tmp_path / "robots.parquet")
    asked = [{"url": "http://X.example/a.png", "before": None}, {"url": "http://y.example/", "before": None}]
    known = list(command._with_days(asked, [tmp_path / "robots.parquet"]))
    assert (known[0]["before"], known[0]["before_day"]) == ("robots_txt: rules; tdm: none", "2026-02-03")
    assert known[1]["before"] is None


def test_lines_of_nothing_to_ask() -> None:
    assert list(Asked({}, {}, Path("x"), Path("y")).lines("out")) == ["asked 0 addresses again: there are none"]
