"""How surprised a language model is by a text."""

from functools import cached_property
from typing import ClassVar

from pydantic.dataclasses import dataclass

from filters.kenlm_text import normalized
from filters.options import STRICT
from filters.text import Text
from models.perplexity import PerplexityModel, model_files


@dataclass(frozen=True, config=STRICT)
class Perplexity:
    """Perplexity under a KenLM model of SentencePiece pieces (reference statistic 10; the paper keeps up to 1500).

    `folder` holds `<language>.arpa.bin` and `<language>.sp.model`, as `obelics fit kenlm` writes them and `edugp/kenlm`
    names them. It must be given; an explicit `folder: null` says that there is none, and nothing is measured.
    """

    name: ClassVar[str] = "perplexity"
    folder: str | None

    def __post_init__(self) -> None:
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

    def score(self, text: Text) -> float | None:
        """1 and up, rounded to one decimal as the reference does; None where the language has no model."""
        model = self.models.get(text.language or "")
        return None if model is None else model.perplexity(normalized(text.text))
