"""What the filters that ask a KenLM model have in common: a folder of models, by language."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.filters.kenlm_text import places
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span, capped, joined
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.perplexity import SHIPPED, PerplexityModel, model_files


@dataclass(frozen=True, config=STRICT)
class KenlmFilter:
    """`folder` holds `<language>.arpa.bin` and `<language>.sp.model`. Left out: that of the package.

    They are named as `obelics fit kenlm` writes them, and as those of `edugp/kenlm`. With an explicit `folder: null`
    nothing is measured. `sha256`: sums of the folder's files by their names, compared before the files are read.
    """

    name: ClassVar[str]
    folder: str | None = SHIPPED
    sha256: dict[str, Sha256] | None = None

    def __post_init__(self) -> None:
        for name, expected in (self.sha256 or {}).items():
            check(Path(self.folder or "").expanduser() / Path(name).name, expected)
        _ = self.models  # a model that cannot be read must stop the run before it starts

    @cached_property
    def models(self) -> dict[str, PerplexityModel]:
        """The models of the folder, by language."""
        return PerplexityModel.load_folder(self.folder, self.name) if self.folder else {}

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return model_files(self.folder, self.name) if self.folder else []

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self.folder else "no model is given (options.folder)"

    def model_of(self, text: Text) -> PerplexityModel | None:
        """The model of a text's language."""
        return self.models.get(text.language or "")


def placed(text: str, pieces: Iterable[Span]) -> list[Span]:
    """Where pieces of the normalized text stand in the text, without the white space around them, and those that touch
    as one."""
    place = places(text)
    found = (_trimmed(text, place[begin], place[end - 1] + 1) for begin, end in pieces if begin < end)
    return capped(joined((begin, end) for begin, end in found if begin < end))


def _trimmed(text: str, begin: int, end: int) -> Span:
    written = text[begin:end]
    return begin + len(written) - len(written.lstrip()), begin + len(written.rstrip())
