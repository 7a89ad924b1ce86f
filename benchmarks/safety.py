"""Precision and recall of all that safety and consent promise, on a made site with a planted case in each page.

python -m benchmarks.safety [--seed N] [--scale X] [--work DIR]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import yaml

from benchmarks.planted.safety.allowed import add_signals
from benchmarks.planted.safety.judge import Run, Verdict, forgotten, verdict
from benchmarks.planted.safety.licences import add_licences
from benchmarks.planted.safety.lists import add_lists
from benchmarks.planted.safety.near import add_near_misses
from benchmarks.planted.safety.people import add_people
from benchmarks.planted.safety.phones import add_phones
from benchmarks.planted.safety.pictures import add_abuse, add_places, add_unsafe
from benchmarks.planted.safety.site import Case, Site, serving
from benchmarks.planted.safety.taken_back import JUDGE, add_forgotten, lists
from obelics_pipeline.rates import Share

ROOT = Path(__file__).parents[1]
ALLOWED = ("cc-by", "cc0")  # what consent.licence.require names
PSEUDONYMS = {
    "e-mail": "person-", "phone, national": "+999", "IP": "192.0.2.", "MAC": "00:00:5e", "IBAN": "ZZ00", "card": "9999 ",
    "national id": "ZZ-",
}  # fmt: skip
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
    add_abuse(site, max(4, n(40)))
    add_places(site, n(30))
    add_forgotten(site, n(12))
    return site


def write_config(site: Site, work: Path) -> Path:
    """All of safety on, with the site's lists; nothing of quality that could take a page first."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "configs" / "default.yaml").read_text("utf-8"))
    for name, lines in site.lists.items():
        path = work / f"{name}.{'csv' if name == 'pdq' else 'txt'}"
        if name.startswith("blocklist"):
            path = work / "ut1" / "adult" / name.removeprefix("blocklist_")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")
    config["filters"]["document"]["farm_score"] = {"max": 1.0}
    config["blocklists"] = {"adult": {"path": str(work / "ut1"), "applies_to": ["pages", "images"]}}
    config["consent"] |= {
        "lists": {
            kind: {"path": str(work / f"opt-out_{kind}.txt"), "kind": kind} for kind in ("urls", "domains", "hashes")
        },
        "service": {"url": "http://opt-outs.example/query", "batch": 500, "requests_per_second": 20},
    }
    config["consent"]["crawl"] |= {
        "robots_txt": [str(work / "warcs" / "robots.warc.gz")],
        "robots": "drop",
        "robots_tokens": ["CCBot"],
    }
    config["fetch"] |= {"tdm": "file", "ai_txt": True, "retries": 0, "buckets": 2}
    hashes = [
        {"path": str(work / "pdq.csv"), "kind": "pdq"},
        {"path": str(work / "sha256.txt"), "kind": "sha256"},
        {"path": str(work / "md5.txt")},
    ]
    config["image_safety"] |= {
        "classifier": {"model": str(CLASSIFIER), "labels": ["other", "unsafe"], "max": 0.9},
        "known_abuse": {"lists": hashes, "cache": str(work / "cache")},
        "report": {"file": str(work / "matches.jsonl")},
    }
    path = work / "safety.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    return path


def obelics(*arguments: str | Path, proxy: str = "") -> str:
    """What a command printed; where it failed, that is printed at once."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | ({"http_proxy": proxy} if proxy else {})
    command = [sys.executable, "-m", "obelics_pipeline", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"obelics {arguments[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


@dataclass
class Count:
    """Of one kind: cases, found, and those whose page was lost for something else."""

    planted: int = 0
    found: int = 0
    near: int = 0
    taken: int = 0
    unjudged: int = 0
    wrong: list[str] = field(default_factory=list)

    def join(self, other: Count) -> None:
        """Add another's."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def add(self, case: Case, seen: Verdict) -> None:
        """Count one case."""
        if seen.taken is None:
            self.unjudged += 1
        elif case.planted:
            self.planted, self.found = self.planted + 1, self.found + seen.taken
        else:
            self.near, self.taken = self.near + 1, self.taken + seen.taken
        if seen.taken is None or seen.taken is not case.planted:
            what = "not judged" if seen.taken is None else "missed" if case.planted else "taken"
            self.wrong.append(f"{case.kind} | {what} | {seen.shown} | {case.url}")


def line(name: str, count: Count) -> str:
    """A row of the table."""
    recall = precision = ""
    if count.planted:
        share = Share(count.found, count.planted)
        low, high = share.interval()
        recall = f"{share.value:.3f} ({low:.3f}-{high:.3f})"
    if count.found + count.taken:
        precision = f"{count.found / (count.found + count.taken):.3f}"
    return f"| {name} | {count.planted} | {count.found} | {recall} | {count.near} | {count.taken} | {precision} | {count.unjudged} |"


def print_table(counts: Mapping[str, Count], taken_for: Mapping[str, Count]) -> None:
    """One row for each group of kinds, then all; the kinds of which something went wrong, and what."""
    print("| kind | planted | found | recall (95 %) | near misses | taken | precision | not judged |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    groups: dict[str, Count] = {}
    for kind, count in sorted(counts.items()):
        groups.setdefault(kind.partition(":")[0], Count()).join(count)
    every = Count()
    for name, count in groups.items():
        every.join(count)
        count.join(taken_for.get(name, Count()))
        print(line(name, count))
    print(line("all", every))
    print("\nof these, by kind, where not all was as planned:\n")
    for kind, count in sorted(counts.items()):
        if count.wrong:
            print(line(kind, count))
    print()
    for text in every.wrong:
        print(f"- {text}")


def count_all(seen: Iterable[tuple[Case, Verdict]]) -> tuple[dict[str, Count], dict[str, Count]]:
    """By kind; and near misses of personal data by the kind that they were taken for, of which each is near to all."""
    counts: dict[str, Count] = {}
    taken_for = {group: Count() for group in PSEUDONYMS}
    for case, one in seen:
        counts.setdefault(case.kind, Count()).add(case, one)
        if case.judge == "text" and not case.planted and one.taken is not None:
            for group, mark in PSEUDONYMS.items():
                taken_for[group].near += 1
                taken_for[group].taken += one.taken and mark in one.shown.rpartition("->")[2]
    return counts, taken_for


def judged(site: Site, work: Path, config: Path) -> Iterator[tuple[Case, Verdict]]:
    """All runs, and what became of each case in them."""
    with serving(site) as proxy:
        first = ["run", config, "--workers", "1", "--output", work / "run", "--input", *site.write(work / "warcs")]
        obelics(*first, proxy=proxy)
        run = Run(work / "run")
        yield from ((case, verdict(case, run, site)) for case in site.cases if case.judge != JUDGE)

        required = [
            "run",
            config,
            "--workers",
            "1",
            "--output",
            work / "required",
            "--set",
            f"consent.licence.require=[{','.join(ALLOWED)}]",
        ]
        obelics(*required, "--input", *site.write(work / "licences", "licence"), proxy=proxy)
        kept = Run(work / "required")
        for case in site.cases:
            if case.judge == "licence" and case.url in run.found:
                allowed = (
                    case.planted
                    and case.what.startswith(ALLOWED)
                    and not case.what.startswith(tuple(f"cc-by-{x}" for x in "sn"))
                )
                yield (
                    replace(case, kind="licence required", planted=not allowed),
                    Verdict(case.url not in kept.found, f"{case.what}"),
                )

        told: list[str | Path] = []
        for name, lines in lists(site.cases, run.found, site).items():
            (work / f"forget-{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
            told += [f"--{name}", work / f"forget-{name}.txt"]
        obelics("forget", work / "run", *told)
        obelics("validate", work / "run")
        obelics(*first, proxy=proxy)  # a rerun
        anew = ["run", config, "--workers", "1", "--output", work / "anew", "--set", f"forgotten=['{work / 'run'}']"]
        obelics(*anew, "--input", *site.write(work / "forgotten", JUDGE), proxy=proxy)
        for folder, where in (("run", "forget"), ("anew", "forgotten, in another run")):
            after = Run(work / folder)
            for case in site.cases:
                if case.judge == JUDGE and (case.url in run.found or (case.planted and case.what == "copy")):
                    yield replace(case, kind=case.kind.replace("forget", where)), forgotten(case, after)


def main() -> None:
    """Make, run, take back, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--work", type=Path, help="folder that is left there; else a temporary one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (arguments.work or Path(temporary)).resolve()
        site = make_site(arguments.seed, arguments.scale)
        site.write(work / "warcs")
        print(f"{len(site.pages)} pages, {len(site.pictures)} pictures, seed {arguments.seed}\n")
        print_table(*count_all(judged(site, work, write_config(site, work))))


if __name__ == "__main__":
    main()
