"""How many times the parser's CPU time extraction takes, on made pages of three sizes; CI compares it with a record.

    python benchmarks/extraction_ratio.py            # prints the ratios beside those that extraction_ratio.json records
    python benchmarks/extraction_ratio.py --record   # writes them there, after a change that is meant

The parser and each scope run in turn on the same page in one process, and the best round of each counts: a busy machine
slows both, though not alike: the record is the highest of three runs beside other tests, as CI runs it. A ratio is too
high at ROOM times what is recorded; that is wide, for ratios differ between machines.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config import ExtractionConfig
from obelics_pipeline.stages.extract.page import extract_page

RECORD = Path(__file__).with_suffix(".json")
ROOM = 1.3
ROUNDS = 15
URL = "https://harbour.example/news/2021/pier.html"

SECTIONS = {"small": 2, "median": 16, "large": 120}  # of a page: about 60, 80 and 210 thousand characters
_AT_ONCE = {"small": 30, "median": 20, "large": 5}  # times that a page is read in a round

_WORDS = (
    "the old harbour was rebuilt when town had outgrown its quays engineers dug a basin lined it with granite and "
    "moved fish market to edge for some years new pier stood empty because railway ended a mile away today band plays"
).split()


def made_page(sections: int) -> str:
    """A page of so many sections between menus, with its scripts and styles, teasers and comments."""
    title = "The pier that waited for its railway"
    styles = "".join(f".block-{i} > a:hover {{ margin: {i}px auto; color: #20{i:04d}; }}\n" for i in range(400))
    script = "".join(f"window.q = window.q || []; q.push(['track', {i}, 'view']);\n" for i in range(400))
    metas = "".join(f'<meta property="og:{name}" content="{title}">' for name in ("title", "description", "image:alt"))
    return (
        f'<!doctype html><html lang="en"><head><title>{title} | Harbour News</title>{metas}'
        f'<meta property="og:image" content="/images/0.jpg"><style>{styles}</style><script>{script}</script></head>'
        f"<body><header><nav>{_links('topic', 30)}</nav></header><main><article><h1>{title}</h1>"
        + "".join(map(_section, range(sections)))
        + f'</article><aside class="related">{_links("story", 20)}</aside><section class="comments">'
        + "".join(f'<div class="comment"><b>reader {i}</b><p>{_sentence(i)}</p></div>' for i in range(sections // 2))
        + f'</section></main><footer class="site-footer">{_links("service", 40)}</footer></body></html>'
    )


def _section(number: int) -> str:
    paragraphs = "".join(f"<p>{_sentence(7 * number + i)} {_sentence(3 * number + i)}</p>" for i in range(3))
    picture = (
        f'<figure><img src="/images/{number}.jpg" width="800" height="600" alt="Granite {number}" '
        f'srcset="/images/{number}-400.jpg 400w, /images/{number}-800.jpg 800w">'
        f"<figcaption>Block {number} of the pier.</figcaption></figure>"
    )
    linked = f'<p>See <a href="https://archive.example/{number}">the archive</a> and <a href="/map">a map</a>.</p>'
    items = "".join(f"<li>{_sentence(number + i)}</li>" for i in range(4))
    return f"<h2>Chapter {number}</h2>{paragraphs}{picture if number % 2 == 0 else ''}{linked}<ul>{items}</ul>"


def _sentence(number: int) -> str:
    words = [_WORDS[(number * 13 + i * (number % 7 + 1)) % len(_WORDS)] for i in range(12 + number % 9)]
    return " ".join(words).capitalize() + "."


def _links(name: str, count: int) -> str:
    items = (
        f'<li id="{name}-{i}" class="menu-item menu-item-{i} menu-item-type-{name}"><div class="menu-item-inner">'
        f'<a href="/{name}/{i}" class="link link--{name}" data-track="click:{name}:{i}"><span class="link-icon"></span>'
        f'<span class="link-label">{name.capitalize()} {i}</span></a></div></li>'
        for i in range(count)
    )
    return f'<ul class="{name}-list">{"".join(items)}</ul>'


def ratios(rounds: int = ROUNDS) -> dict[str, float]:
    """CPU time of extraction over that of the parser, by scope and size of page, such as `main small`."""
    found: dict[str, float] = {}
    for size, sections in SECTIONS.items():
        html = made_page(sections)
        best = _best(html, _AT_ONCE[size], rounds)
        found |= {f"{scope} {size}": round(best[scope] / best["parse"], 2) for scope in ("main", "page")}
    return found


def _best(html: str, at_once: int, rounds: int) -> dict[str, float]:
    """CPU seconds of the best round of the parser and of each scope, all in turn. The first round is not counted."""
    readers: dict[str, Callable[[], object]] = {"parse": lambda: LexborHTMLParser(html)}
    for scope in ("main", "page"):
        readers[scope] = _reader(html, ExtractionConfig.model_validate({"scope": scope}))
    best = dict.fromkeys(readers, float("inf"))
    for number in range(rounds + 1):
        seconds = dict.fromkeys(readers, 0.0)
        gc.collect()
        for _ in range(at_once):
            for name, read in readers.items():  # in turn: one that is read over and over finds its memory laid out
                start = time.process_time()
                read()
                seconds[name] += time.process_time() - start
        if number:
            best = {name: min(found, seconds[name]) for name, found in best.items()}
    return best


def _reader(html: str, config: ExtractionConfig) -> Callable[[], object]:
    return lambda: extract_page(html, URL, config)


def recorded() -> dict[str, float]:
    """The ratios on record."""
    found: dict[str, float] = json.loads(RECORD.read_text("utf-8"))
    return found


def too_high(found: Mapping[str, float], record: Mapping[str, float]) -> dict[str, float]:
    """Those that are more than `ROOM` times what is recorded. Raises KeyError for one that is not."""
    return {name: ratio for name, ratio in found.items() if ratio > ROOM * record[name]}


def main() -> None:
    """Print the ratios, or record them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help=f"write the ratios into {RECORD.name}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds is at least 1")
    found = ratios(arguments.rounds)
    if arguments.record:
        RECORD.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    record = recorded()
    for name, ratio in found.items():
        print(f"{name:<12} {ratio:5.2f} times the parser, recorded {record[name]:5.2f}")
    if high := too_high(found, record):
        raise SystemExit(f"more than {ROOM} times what is recorded: {', '.join(high)}")


if __name__ == "__main__":
    main()
