"""The frame of pages without the page: menus, notices and teasers, as scrapers take them for text."""

from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, count_words, marked
from obelics_pipeline.fit.farm_detector.page_frame import PageFrame, title_of
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

SEPARATORS = ("\n", "\n", "\n\n", " | ", " ", " › ")
PROSE = (0.0, 0.05, 0.15)  # share of whole sentences between


def boilerplate(trusted: TrustedTexts, random: Random) -> MarkedText:
    """Lines of menus, notices and titles, many of them again and again."""
    prose, frame = trusted.some(random), PageFrame(trusted, random)
    titles = [title_of(random.choice(prose), random) for _ in range(random.randint(3, 20))]
    separator, share, again = random.choice(SEPARATORS), random.choice(PROSE), random.random() / 4
    lines: list[str] = []
    words = random.choice(LENGTHS)
    while words > 0:
        kind = random.random()
        if lines and kind < again:
            line = random.choice(lines)
        elif kind < 0.45:
            line = random.choice(trusted.wording.menu)
        elif kind < 0.7:
            line = random.choice((frame.notice, frame.notice, frame.byline))()
        else:
            line = random.choice(titles if kind < 1 - share else prose)
        lines.append(line.upper() if random.random() < 0.1 else line)
        words -= max(1, count_words(line))
    made: MarkedText = []
    for line in lines:
        made += [Piece(separator)] if made else []
        made += marked(line)
    return made
