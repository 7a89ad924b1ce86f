"""Pages of a Markov chain over words: each follows the last one or two somewhere in some text."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random

TEXTS = 150  # of a chain
_PARAGRAPH = 70  # words, after which one ends with the next full stop


class Chain:
    """What may follow each one or two words."""

    def __init__(self, texts: Sequence[str], order: int, random: Random) -> None:
        self._follow: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._order = order
        for text in random.sample(texts, min(TEXTS, len(texts))):
            words = text.split()
            for place in range(order, len(words)):
                self._follow[tuple(words[place - order : place])].append(words[place])
        self._known = sorted(self._follow)

    def page(self, words: int, random: Random) -> str:
        """So many words."""
        made = list(random.choice(self._known))
        page, since = " ".join(made), 0
        while words > 0:
            choices = self._follow.get(tuple(made[-self._order :])) or random.choice(self._known)
            word = random.choice(choices)
            ended = since > _PARAGRAPH and made[-1].endswith(".")
            page += ("\n\n" if ended else " ") + word
            since = 0 if ended else since + 1
            made.append(word)
            words -= 1
        return page
