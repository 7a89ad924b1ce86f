"""How likely it is that a text was made by a program: a page of a content farm."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.prose import Prose
from obelics_pipeline.filters.spans import Span, capped, joined
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.farm_heads.panel import MIX, Head, Panel, languages
from obelics_pipeline.models.forest import score_of
from obelics_pipeline.models.page_type import Kind

_SEVERAL_WRITERS: Kind = "forum"  # the kind of page whose posts are of several persons


@dataclass(frozen=True, config=STRICT)
class FarmScore:
    """From 0 to 1, of the prose of a text (`prose.Prose`): what the most suspicious of several detectors says.

    Of a forum's page those that look at how sentences follow each other are not asked.

    `paths`: detectors by language, one or several, as `obelics fit detector` and `obelics fit wording-detector` make
    them. Each goes before the one of its kind that the package ships. `sha256`: of these files, by language and in the
    same order, compared before they are read.
    """

    name: ClassVar[str] = "farm_score"
    paths: dict[str, str | list[str]] | None = None
    sha256: dict[str, Sha256 | list[Sha256]] | None = None

    def __post_init__(self) -> None:
        for language, sums in (self.sha256 or {}).items():
            files, expected = self._given.get(language, []), _listed(sums)
            if len(files) != len(expected):
                raise UserError(
                    f"filter {self.name}: options.sha256 has {len(expected)} sums for {language}, and options.paths "
                    f"{len(files)} files; give one for each file, in the same order"
                )
            for path, sha256 in zip(files, expected, strict=True):
                check(Path(path).expanduser(), sha256)
        for head in self._heads():
            head.kind.load(head.path)  # a detector that cannot be read must stop the run before it starts

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return sorted({str(MIX), *(head.path for head in self._heads())})

    def _heads(self) -> Iterator[Head]:
        return (head for panel in self._panels.values() for head in panel.heads)

    @cached_property
    def _given(self) -> dict[str, list[str]]:
        return {language: _listed(paths) for language, paths in (self.paths or {}).items()}

    @cached_property
    def _panels(self) -> dict[str, Panel]:
        everywhere = languages() | set(self._given)
        return {language: Panel.of(language, self._given.get(language, [])) for language in everywhere}

    def _judged(self, text: Text) -> tuple[Panel, Prose] | None:
        """The heads and what they read of a text; None in a language without heads."""
        panel = self._panels.get(text.language or "")
        if panel is None:
            return None
        if text.document is not None and text.document.page_type == _SEVERAL_WRITERS:
            panel = panel.of_several_writers()
        return panel, Prose.of(text)

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self._panels else "no detector is given (options.paths)"

    def score(self, text: Text) -> float | None:
        """None in a language without a detector, and for a text with fewer than 100 words of prose."""
        judged = self._judged(text)
        found = None if judged is None else judged[0].log_odds(judged[1].text)
        return None if found is None else score_of(found)

    def spans(self, text: Text) -> list[Span]:
        """What the head that made the score points at: its words, pairs of words and worst stretch."""
        judged = self._judged(text)
        worst = None if judged is None else judged[0].worst(judged[1].text)
        if judged is None or worst is None:
            return []
        prose = judged[1]
        return capped(prose.in_whole(joined(sorted(worst.told(prose.text).spans))))

    def reasons(self, text: Text) -> Iterator[tuple[str, str, str]]:
        """What each head says, and what each points at, the head that made the score first.

        Rows of what it is about, a number, and a quote of the text or what would be otherwise.
        """
        judged = self._judged(text)
        if judged is None:
            return
        panel, prose = judged
        said = dict(panel.judge(prose.text))
        for head in panel.heads if said else ():
            score = f"{score_of(said[head]):.3f}" if head in said else "not asked"
            yield f"head {head.kind.name}", score, head.kind.looks_for
        for head in sorted(said, key=lambda one: -said[one]):
            yield from head.told(prose.text).rows


def _listed(one: str | list[str]) -> list[str]:
    return [one] if isinstance(one, str) else one
