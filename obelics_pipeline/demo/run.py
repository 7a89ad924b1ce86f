"""`obelics demo`: the main job, whole, on the web site that the package carries."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.demo.pack import pack
from obelics_pipeline.demo.server import serve
from obelics_pipeline.demo.show import print_document
from obelics_pipeline.demo.verdicts import print_verdicts

CONFIG = "default"
OVERRIDES = [
    "fetch.timeout_seconds=6",
    "fetch.retries=0",
    "reading.unit_bytes=32768",
    "site.document={farm_score_in_site: {max: 0.5}}",
]
"""What the demo changes in the default config: one of its servers never answers, a small WARC is to be cut, and pages
of which the site makes it likelier that they were generated than not are dropped."""

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def run_demo(output: Path, workers: int = 2) -> int:
    """Pack the site, serve its images on loopback, run the main job on it, and print the result.

    `output` gets a run's folder, with the WARC files in `output/input`. Returns the exit code of the run. Raises
    UserError where Pillow is missing, or the folder cannot be written.
    """
    from obelics_pipeline.jobs.main_job import run

    if find_spec("PIL") is None:
        raise UserError("the demo draws its pictures with Pillow: pip install 'obelics-pipeline[demo]'")
    console = Console()
    try:
        inputs = [str(path) for path in pack(output / "input")]
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written: {error.strerror}; give another folder") from None
    with serve() as proxy, proxied(proxy):
        code = run(CONFIG, inputs, output, workers, OVERRIDES, yes=True)  # its own folder, made again at will
    if (output / "manifest.json").is_file():
        print_counts(output, console)
        console.print("\n[bold]one document, read from its shard[/bold]\n", highlight=False)
        print_document(output, console)
        print_verdicts(output, console)
    return code


@contextmanager
def proxied(proxy: str) -> Iterator[None]:
    """Let every http:// request of this process and its children go through a proxy while the block runs."""
    names = [*PROXY_VARIABLES, *(name.upper() for name in PROXY_VARIABLES)]
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ["http_proxy"] = os.environ["HTTP_PROXY"] = proxy
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)
        os.environ.update(before)


def print_counts(output: Path, console: Console) -> None:
    """Print, for records, documents and images, how many went in, were kept, and were lost, by reason."""
    ledgers = json.loads((output / "manifest.json").read_text(encoding="utf-8"))["ledgers"]
    for noun in ("records", "documents", "images"):
        for line in lines_of_ledger(noun, ledgers[noun]):
            console.print(line, highlight=False)


def lines_of_ledger(noun: str, counts: dict[str, Any]) -> list[str]:
    """One ledger as lines: the sum, then each reason with its count, the most frequent first."""
    lines = [f"\n[bold]{noun}[/bold]: {counts['in']} in, {counts['kept']} kept"]
    for how in ("dropped", "failed"):
        for reason, count in sorted(counts[how].items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"{count:6} {how}: {reason}")
    return lines
