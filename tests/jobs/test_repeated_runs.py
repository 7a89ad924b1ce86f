"""Ten runs in one process leave what two leave: a notebook, or a server, may run as often as it likes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.faults.runs import ROOT
from tests.small import SENTENCE, THINGS
from tests.stages.fetch.site import Site, answer, picture
from tests.stages.read.warcs import record

RUNS = 10
SLACK = 8  # MiB, between the runs 2 and 10: less than one for each


def pages(site: Site) -> bytes:
    """A WARC file of pages with a picture each, one of which is broken."""
    found = []
    for thing in THINGS:
        image = f'<img src="{site.url(f"/{thing}.jpg")}" width=400 height=300 alt="the {thing}">'
        html = (
            f"<html><body><article><h1>The {thing}</h1><p>{SENTENCE.format(thing)}</p>{image}</article></body></html>"
        )
        found.append(record(html.encode(), f"https://pages.example/{thing}"))
    return b"".join(found)


@pytest.mark.slow
def test_ten_runs_leave_no_more_than_two(tmp_path: Path) -> None:
    whole = answer(200, picture(size=(400, 300)))
    with tempfile.TemporaryDirectory() as temporary, Site(fallback=whole) as site:  # a short path, for sockets
        site.pages["/bench.jpg"] = answer(200, picture(size=(400, 300))[:-100])
        (tmp_path / "pages.warc").write_bytes(pages(site))
        settings = ["fetch.enabled=true", f"fetch.allow_private=['127.0.0.1:{site.port}']", "images.min_side=10"]
        command = [sys.executable, "-m", "tests.jobs.repeated_runs", str(tmp_path / "pages.warc")]
        command += [str(tmp_path / "runs"), str(RUNS), *settings]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": temporary, "no_proxy": "*"}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    after = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"code"')]
    assert [run["code"] for run in after] == [0] * RUNS
    assert list((tmp_path / "runs" / str(RUNS - 1) / "images").glob("*/*"))
    grown = after[-1].pop("megabytes") - after[1].pop("megabytes")
    assert after[-1] == after[1]
    assert grown < SLACK
