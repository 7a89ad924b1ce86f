"""The code blocks of the pages: `python docs/blocks.py RUN` runs every one that can run without a network.

A fenced block of `sh` or `python` is run, page by page and in order, in a folder of its own where `out` is a copy of
the finished run RUN (the demo's). Examples with `>>>` are run by tests/api/test_examples.py. A block that cannot run
says why in a comment on the line before it: `<!-- not run: needs a cluster -->`. `docs/tutorial.md` begins without
`out`: its first command makes it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<before>[^\n]*)\n+(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)\n *```$", re.M | re.S)
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
MOST_SECONDS = 900  # of one block


class Block(NamedTuple):
    """A fenced block: its page below the repository, first line of code, language, code, and why it is not run."""

    page: str
    line: int
    language: str
    code: str
    not_run: str


def blocks() -> Iterator[Block]:
    """Every fenced block of README.md and docs/, in order."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = "\n" + path.read_text("utf-8")
        for found in FENCE.finditer(text):
            reason = NOT_RUN.search(found["before"])
            code = re.sub(f"^{found['indent']}", "", found["code"], flags=re.M)
            line = text.count("\n", 0, found.start("code"))
            yield Block(str(path.relative_to(ROOT)), line, found["language"], code, reason[1] if reason else "")


def to_run() -> dict[str, list[Block]]:
    """The blocks that are run, by page."""
    pages: dict[str, list[Block]] = {}
    for block in blocks():
        if block.language in ("sh", "python") and not block.not_run and ">>> " not in block.code:
            pages.setdefault(block.page, []).append(block)
    return pages


def run_page(of_page: list[Block], finished: Path, folder: Path) -> list[str]:
    """Run the blocks of one page in a folder; what went wrong, a text for the first block that failed."""
    if of_page[0].page != "docs/tutorial.md":
        shutil.copytree(finished, folder / "out")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "BROWSER": "true", "OBELICS_REPOSITORY": str(ROOT)}
    for block in of_page:
        command = ["bash", "-e", "-c", block.code] if block.language == "sh" else [sys.executable, "-c", block.code]
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
        )
        if ended.returncode:
            return [f"{block.page}:{block.line}: exit code {ended.returncode}\n{block.code}\n{ended.stderr[-2000:]}"]
    return []


def main() -> int:
    """Run every page's blocks; exit code 1 if one failed."""
    finished, failed, ran = Path(sys.argv[1]).resolve(), [], 0
    for page, of_page in to_run().items():
        if len(sys.argv) > 2 and page not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            problems = run_page(of_page, finished, Path(scratch))
            failed += problems
            ran += len(of_page)
            print("\n".join([f"{page}: {len(of_page)} blocks", *problems]), flush=True)
    print(f"{ran} blocks run, {len(failed)} pages failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
