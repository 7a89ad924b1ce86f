"""What a judge is asked about a document, and which numbers its answers are."""

from __future__ import annotations

from dataclasses import dataclass

from obelics_pipeline.core.errors import UserError

DOCUMENT = "{document}"  # where in a prompt the document stands
COLUMNS = ("judge_score", "judge_mass")


@dataclass(frozen=True, slots=True)
class Rubric:
    """A prompt with `{document}` in it once, and the answers that it asks for, each with its number.

    An answer is a word that the model's tokenizer has as one token, such as a digit.
    """

    prompt: str
    answers: tuple[tuple[str, float], ...] = tuple((str(n), float(n)) for n in range(1, 6))

    def __post_init__(self) -> None:
        """Raises `UserError` for a prompt without a document, and for fewer than two different answers."""
        if self.prompt.count(DOCUMENT) != 1:
            raise UserError(f"judge: the prompt has {DOCUMENT} {self.prompt.count(DOCUMENT)} times; write it once")
        if len({word for word, _ in self.answers}) < max(2, len(self.answers)):
            raise UserError(f"judge: answers are {', '.join(word for word, _ in self.answers)}; name two or more words")
