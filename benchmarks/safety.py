"""Precision and recall of all that safety and consent promise, on a made site with one planted case on each page.

    python -m benchmarks.safety [--seed N] [--scale X] [--work DIR]

Makes WARC files of some 3,000 pages and the lists, serves the pictures on loopback, and runs `obelics run` with all of
safety on; once more with `consent.licence.require`; then `obelics forget`, the first run again, and another run that
names what was forgotten. What became of each case is read from the shards. Another seed gives other pages. Needs the
extra `safety`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import yaml

from benchmarks.planted.safety.judge import Run, Verdict, forgotten, verdict
from benchmarks.planted.safety.licences import REQUIRED, add_licences, allowed
from benchmarks.planted.safety.lists import add_lists
from benchmarks.planted.safety.near import add_near_misses
from benchmarks.planted.safety.people import add_people, add_phones
from benchmarks.planted.safety.pictures import add_abuse, add_places, add_unsafe
from benchmarks.planted.safety.server import serving
from benchmarks.planted.safety.signals import add_signals
from benchmarks.planted.safety.site import Case, Site
from benchmarks.planted.safety.table import table
from benchmarks.planted.safety.taken_back import JUDGE, add_forgotten, lists

ROOT = Path(__file__).parents[1]
CLASSIFIER = ROOT / "tests" / "models" / "unsafe_images" / "bullseye.onnx"


def make_site(seed: int, scale: float) -> Site:
    """Some 3,000 pages at scale 1."""
    site = Site(Random(seed))

    def n(count: int) -> int:
        return max(1, round(count * scale))

    add_people(site, n(50))
    add_phones(site, n(6))
    add_near_misses(site, n(1050))
    add_licences(site, n(20))
    add_signals(site, n(12))
    add_lists(site, n(16))
    add_unsafe(site, n(40))
    add_abuse(site, max(4, n(40)))  # each sort of list has an entry
    add_places(site, n(30))
    add_forgotten(site, n(12))
    return site


def write_config(site: Site, work: Path) -> Path:
    """All of safety on, with the site's lists; nothing of quality that could take a page first."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "configs" / "default.yaml").read_text("utf-8"))
    for name, lines in site.lists.items():
        place, _, part = name.partition("_")
        path = work / "ut1" / "adult" / part if place == "blocklist" else work / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")
    config["filters"]["document"]["farm_score"] = {"max": 1.0}
    config["blocklists"] = {"adult": {"path": str(work / "ut1"), "applies_to": ["pages", "images"]}}
    kinds = ("urls", "domains", "hashes")
    config["consent"]["lists"] = {kind: {"path": str(work / f"opt-out_{kind}.txt"), "kind": kind} for kind in kinds}
    config["consent"]["service"] = {"url": "http://opt-outs.example/query", "requests_per_second": 20}
    captures = [str(work / "warcs" / "robots.warc.gz")]
    config["consent"]["crawl"] |= {"robots_txt": captures, "robots": "drop", "robots_tokens": ["CCBot"]}
    config["fetch"] |= {"tdm": "file", "ai_txt": True, "retries": 0, "buckets": 2}
    hashes = [{"path": str(work / f"{kind}.txt"), "kind": kind} for kind in ("pdq", "sha256", "md5")]
    config["image_safety"] |= {
        "classifier": {"model": str(CLASSIFIER), "labels": ["other", "unsafe"], "max": 0.9},
        "known_abuse": {"lists": hashes, "cache": str(work / "cache")},
        "report": {"file": str(work / "matches.jsonl")},
    }
    path = work / "safety.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    return path


def obelics(*arguments: str | Path, proxy: str = "") -> None:
    """A command; what it says is printed where it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment |= {"PYTHONPATH": str(ROOT), "http_proxy": proxy}
    command = [sys.executable, "-m", "obelics_pipeline", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"obelics {arguments[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def judged(site: Site, work: Path, proxy: str) -> Iterator[tuple[Case, Verdict]]:
    """All runs, and what became of each case in them."""
    warcs, config = site.write(work / "warcs"), write_config(site, work)

    def run(name: str, inputs: list[Path], *sets: str) -> Run:
        options = [part for value in sets for part in ("--set", value)]
        obelics("run", config, "--workers", "1", "--output", work / name, *options, "--input", *inputs, proxy=proxy)
        return Run(work / name)

    first = run("run", warcs)
    yield from ((case, verdict(case, first, site)) for case in site.cases if case.judge != JUDGE)

    with_licence = site.write(work / "licences", "licence")
    required = run("required", with_licence, f"consent.licence.require=[{', '.join(REQUIRED)}]")
    for case in site.cases:
        if case.judge == "licence" and case.url in first.found:
            wrong = not (case.planted and allowed(case.what))
            seen = Verdict(case.url not in required.found, case.what)
            yield replace(case, kind="licence required", planted=wrong), seen

    for name, lines in lists(site.cases, first.found, site).items():
        (work / f"forget-{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    told = [part for name in ("urls", "domains", "hashes") for part in (f"--{name}", work / f"forget-{name}.txt")]
    obelics("forget", work / "run", *told)
    obelics("validate", work / "run")
    again = run("run", warcs)
    other = run("other", site.write(work / "taken-back", JUDGE), f"forgotten=['{work / 'run'}']")
    for place, after in (("forget", again), ("forgotten, in another run", other)):
        for case in site.cases:
            if case.judge == JUDGE and (case.url in first.found or (case.planted and case.what == "copy")):
                yield replace(case, kind=case.kind.replace("forget", place)), forgotten(case, after)


def main() -> None:
    """Make, run, take back, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="1: some 3,000 pages")
    parser.add_argument("--work", type=Path, help="an empty folder, where all is left; else a temporary one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        site = make_site(arguments.seed, arguments.scale)
        print(f"{len(site.pages)} pages, {len(site.pictures)} pictures, seed {arguments.seed}\n", flush=True)
        with serving(site) as proxy:
            for line in table(judged(site, (arguments.work or Path(temporary)).resolve(), proxy)):
                print(line)


if __name__ == "__main__":
    main()
