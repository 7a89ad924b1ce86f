"""What the largest and the worst pages cost: each is extracted in a process of its own, by the default config.

    python benchmarks/hostile_pages.py [--only NAME ...]

Prints CPU seconds, the growth of the process's peak memory over the page itself, and what became of the page: its nodes
or the reason that it was refused for.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from obelics_pipeline.config import load_config
from obelics_pipeline.extract.page import PageRejected, extract_page

MB = 1_000_000
PARAGRAPH = "<p class='post-text'>A sentence of a page, with <a href='/x'>a link</a> and some more words to it.</p>\n"
CARD = "<div class=card><a href='/a/1'><img src='/i/1.jpg' width=300><h3>A title</h3></a><span>3 May</span></div>\n"


def _filled(unit: str, size: int) -> str:
    return unit * (size // len(unit))


PAGES: dict[str, Callable[[], str]] = {
    "1 MB of paragraphs": lambda: _filled(PARAGRAPH, MB),
    "5 MB of paragraphs": lambda: _filled(PARAGRAPH, 5 * MB),
    "50 MB of paragraphs": lambda: _filled(PARAGRAPH, 50 * MB),
    "1 MB of cards": lambda: _filled(CARD, MB),
    "5 MB of cards": lambda: _filled(CARD, 5 * MB),
    "5 MB in one text": lambda: "<p>" + _filled("word ", 5 * MB),
    "50 MB in one text": lambda: "<p>" + _filled("word ", 50 * MB),
    "50 MB of script": lambda: "<script>" + _filled("var a = '<p>';", 50 * MB) + "</script><p>text",
    "50 MB of comments": lambda: _filled("<!-- <p> -->", 50 * MB) + "<p>text",
    "5 MB of one table": lambda: "<table>" + _filled("<tr><td>1<td>2<td>3", 5 * MB),
    "5 MB of one list": lambda: "<ul>" + _filled("<li>item", 5 * MB),
    "5 MB of images": lambda: _filled("<img src=a.jpg>t", 5 * MB),
    "200,000 attributes": lambda: "<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">text",
    "200,000 attributes of one name": lambda: "<p " + "a=1 " * 200_000 + ">text",
    "1,000 tags of 200 attributes": lambda: ("<p " + " ".join(f"a{n}=1" for n in range(200)) + ">t") * 1_000,
    "a class of 5 MB": lambda: "<p class='" + _filled("post-meta ", 5 * MB) + "'>text",
    "100,000 deep": lambda: "<div>" * 100_000 + "text",
    "4,900 deep": lambda: "<div>" * 4_900 + "text",
    "4,900 deep, 20 times": lambda: ("<div>" * 4_900 + "text" + "</div>" * 4_900) * 20,
    "100,000 unclosed b": lambda: "<b>" * 100_000 + "text",
    "a thousand b reopened": lambda: "".join(f"<b id={n}>" for n in range(1_000)) + "<p>x" * 1_000,
    "100,000 links that touch": lambda: "<a href=x>y</a>" * 100_000,
    "100,000 line breaks": lambda: "<p>" + "a<br>" * 100_000,
    "4,000 figures in figures": lambda: "<figure itemid=a.jpg>" * 4_000 + "text",
    "40,000 linked images, 4,800 deep": lambda: (
        PARAGRAPH * 20 + "<div>" * 4_800 + "<a href=/b><img src=a.jpg></a><img src=c.jpg>" * 20_000
    ),
    "40,000 images in 4,800 noscripts": lambda: (
        PARAGRAPH * 20 + "<noscript>" * 4_800 + "<img src=a.jpg alt=x><p><img src=b.jpg alt=y></p>" * 20_000
    ),
    "a srcset of 5 MB": lambda: "<img srcset='" + _filled("a.jpg 1w, ", 5 * MB) + "'>text",
}


def measure(name: str) -> dict[str, object]:
    """What extracting a page costs, in this process."""
    page, config = PAGES[name](), load_config("default").extract
    extract_page("<p>warm", "http://a.example/", config)
    before, start = _peak(), time.process_time()
    try:
        result = f"{len(extract_page(page, 'http://a.example/', config).nodes)} nodes"
    except PageRejected as rejected:
        result = rejected.reason
    return {"seconds": time.process_time() - start, "megabytes": (_peak() - before) / MB, "result": result}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in KiB


def main() -> None:
    """Measure all pages, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="not used: all benchmarks take WARC files")
    parser.add_argument("--only", nargs="+", choices=PAGES, default=list(PAGES), metavar="NAME")
    parser.add_argument("--measure", choices=PAGES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return
    print(f"{'page':34}{'CPU s':>8}{'MB':>8}  result")
    for name in arguments.only:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", name], capture_output=True, text=True, check=True, timeout=600
        )
        found = json.loads(done.stdout)
        print(f"{name:34}{found['seconds']:8.2f}{found['megabytes']:8.0f}  {found['result']}", flush=True)


if __name__ == "__main__":
    main()
