"""Texts that are hard to read: of many kinds of characters, marks, lines and lengths."""

from random import Random

from tests.models.coherence_detector.small import IN_ORDER, OUT_OF_ORDER
from tests.prose_pages import prose_pages

CHARACTERS = (
    "aAbBzZ éÉßİſΣς09٣²½.,!?'\"“”‘’`—–…()[]|/»›·•-:;#_\n\n  \t\u00a0\u2028\x00\x1f😀\u200d🌈Ⓐ中文\u0301\ufeff\ud800"
)
WORDS = (
    "the The THE Mr. Dr. St. Mrs. J. A. xA. don't Don't o'clock 1,000 2.5 3. #1 # (He) \"Yes\" said. ran! why? Why?\" "
    "end.) U.S. e.g. Ⓐ ok... …And '' - New York Harbour harbour Café naïve 12 ١٢"
).split()
BLANKS = (" ", " ", " ", " ", "\n", "\n\n", "  ", "\u2003")
_LENGTHS = (1, 8, 60, 300, 1000)


def hard_texts() -> list[str]:
    """The same each time."""
    random = Random(5)
    found = ["", "a", "😀", "\x00", "Word", "A. " * 500, "A.\n" * 9, "x" * 10_000, "- " * 5_000, IN_ORDER, OUT_OF_ORDER]
    found += ["Mr." * 500 + " Go. He", "\ud800 Abc def. " * 50, "'" * 3_000 + "a. B. " * 20, 'He said "x. Y" ' * 700]
    for _ in range(100):
        length = random.choice(_LENGTHS)
        found.append("".join(random.choice(CHARACTERS) for _ in range(length)))
        found.append("".join(random.choice(WORDS) + random.choice(BLANKS) for _ in range(length)))
    for page in prose_pages():
        text = page.read_text("utf-8")[:6000]
        found += [text, text.upper(), text.title(), text.replace(" ", "\x00")]
        found.append("".join(random.choice(CHARACTERS) if random.random() < 0.03 else c for c in text))
    return found
