"""How well the measures of `images.quality` tell pictures apart at the recommended bounds, and what they cost.

    python benchmarks/image_quality.py [--pictures N] [--seed N] [--photographs FOLDER] [--texts FOLDER]

Pictures are made by the seed (made_pictures.py): N of each kind. Those of the folders, photographs and pages or
screenshots, are in focus; they are looked at as they are, and blurred, and with a QR code in them. Precision and recall
are those of dropping: of what a bound drops, the share that it should; of what it should drop, the share that it does.
CPU is of one thread, a picture of each size, decoding not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from PIL import Image

from benchmarks import made_pictures as made
from obelics_pipeline.core.config.filtering import Bounds
from obelics_pipeline.core.document import IMAGE_MEASURES
from obelics_pipeline.stages.fetch.quality.measure import measures_of

# docs/image_quality.md recommends these.
RECOMMENDED = {
    "sharpness": Bounds(min=100),
    "one_colour": Bounds(max=0.98),
    "qr_codes": Bounds(max=0),
    "text_share": Bounds(max=0.1),
}
BLUR = (2.0, 5.0)  # pixels, of a picture of 512
TEXT = 0.1  # a page is one where lines take so much of the picture, or more
QR_SHARES = (0.01, 0.03, 0.1, 0.4)
SIZES = (512, 1024, 4000)  # pixels of the longer side
WHOLE: dict[str, Callable[[Generator, int, int], Image.Image]] = {
    "leaves": made.leaves,
    "thing": made.thing,
    "subject": made.subject,
}


@dataclass(frozen=True)
class Case:
    """A picture, and which measures should drop it. `wide` is the share of a QR code in it."""

    kind: str
    picture: Image.Image
    drops: frozenset[str] = frozenset()
    wide: float | None = None


def cases_made(draw: Generator, count: int) -> Iterator[Case]:
    """So many pictures of each kind."""
    for number in range(count):
        for name, make in WHOLE.items():
            whole = make(draw, *made.size(draw))
            yield Case(name, made.stored(whole, draw))
            blur = made.blurred(whole, draw, draw.uniform(*BLUR))
            yield Case(f"{name}, blurred", made.stored(blur, draw), frozenset({"sharpness"}))
        yield with_code("leaves", made.leaves(draw, *made.size(draw)), draw, QR_SHARES[number % len(QR_SHARES)])
        yield Case("chessboard", made.stored(made.chessboard(draw, *made.size(draw)), draw))
        blank = made.blank(draw, *made.size(draw))
        yield Case("blank", made.stored(blank, draw), frozenset({"one_colour"}))
        page, lines = made.page(draw, *made.size(draw))
        if lines >= TEXT:
            yield Case("page", made.stored(page, draw), frozenset({"text_share"}))


def cases_found(draw: Generator, photographs: Sequence[Image.Image], texts: Sequence[Image.Image]) -> Iterator[Case]:
    """Photographs as they are, blurred and with a QR code; and pages."""
    for number, photograph in enumerate(photographs):
        yield Case("photograph", photograph)
        for pixels in BLUR:
            blur = made.blurred(photograph, draw, pixels)
            yield Case("photograph, blurred", made.stored(blur, draw), frozenset({"sharpness"}))
        yield with_code("photograph", photograph, draw, QR_SHARES[number % len(QR_SHARES)])
    for text in texts:
        yield Case("text", text, frozenset({"text_share"}))


def with_code(kind: str, picture: Image.Image, draw: Generator, share: float) -> Case:
    """A picture with a QR code."""
    shown, wide = made.with_qr_code(picture, draw, share)
    return Case(f"{kind}, QR code of {share:.0%}", made.stored(shown, draw), frozenset({"qr_codes"}), wide)


# What a picture of a kind may be besides: a blurred one is no judge of blank ones, a chessboard may count as text.
BESIDE = {"sharpness": ("blank",), "one_colour": (), "qr_codes": (), "text_share": ("QR code", "chessboard")}


def print_judgements(title: str, cases: Sequence[Case]) -> None:
    """Precision and recall of each bound, and the share that it drops of each kind."""
    scores = [measures_of(case.picture, IMAGE_MEASURES) for case in cases]
    print(f"== {title}: {len(cases)} pictures")
    for name, bounds in RECOMMENDED.items():
        judged = [
            (case, name in score and not bounds.holds(score[name]))
            for case, score in zip(cases, scores, strict=True)
            if not any(kind in case.kind for kind in BESIDE[name])
        ]
        should = sum(name in case.drops for case, _ in judged)
        dropped = sum(drops for _, drops in judged)
        right = sum(drops and name in case.drops for case, drops in judged)
        said = f"precision {right}/{dropped}, recall {right}/{should}"
        print(f"{name} {bounds.model_dump(exclude_none=True)}: {said}")
        for kind in dict.fromkeys(case.kind for case, _ in judged):
            of_it = [drops for case, drops in judged if case.kind == kind]
            if any(of_it):
                print(f"    {sum(of_it)} of {len(of_it)}: {kind}")
    wide = [(score["qr_share"], case.wide) for case, score in zip(cases, scores, strict=True) if case.wide]
    off = [abs(share / true - 1) for share, true in wide if share]
    if off:
        print(f"qr_share of those that are found: off by {np.median(off):.1%} in the median, {max(off):.1%} at most")


def print_cost(draw: Generator) -> None:
    """CPU of each measure."""
    for side in SIZES:
        picture = made.leaves(draw, 800, 600).resize((side, side * 3 // 4))
        costs = {name: _milliseconds(picture, (name,)) for name in IMAGE_MEASURES}
        said = ", ".join(f"{name} {cost:.1f}" for name, cost in costs.items())
        print(f"{side} x {side * 3 // 4}: {said}; all {_milliseconds(picture, IMAGE_MEASURES):.1f} ms of CPU")


def _milliseconds(picture: Image.Image, names: Sequence[str]) -> float:
    times = []
    for _ in range(5):
        start = time.process_time()
        measures_of(picture, names)
        times.append(time.process_time() - start)
    return min(times) * 1000


def pictures_in(folder: Path | None) -> list[Image.Image]:
    """All pictures of a folder."""
    files = sorted(folder.iterdir()) if folder is not None else []
    return [Image.open(file).convert("RGB") for file in files if file.suffix.lower() in (".jpg", ".jpeg", ".png")]


def main() -> None:
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=40, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--photographs", type=Path, help="a folder of photographs in focus")
    parser.add_argument("--texts", type=Path, help="a folder of pages or screenshots")
    asked = parser.parse_args()
    draw = np.random.default_rng(asked.seed)
    found = list(cases_found(draw, pictures_in(asked.photographs), pictures_in(asked.texts)))
    if found:
        print_judgements("found", found)
    print_judgements("made", list(cases_made(draw, asked.pictures)))
    print_cost(draw)


if __name__ == "__main__":
    main()
