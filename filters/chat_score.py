"""How likely it is that a chat model wrote a text."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.chat_detector.detector import ChatDetector, all_bundled, load
from obelics_pipeline.models.chat_detector.reasons import told
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.perplexity import SHIPPED, PerplexityModel, model_files


@dataclass(frozen=True, config=STRICT)
class ChatScore:
    """From 0 to 1. `paths`: detectors by language, as `obelics fit chat-detector` makes them.

    They go before the one that the package ships, which is for English. `sha256`: of these files, by language, compared
    before they are read. `folder`: the KenLM models that the detectors were fitted with; left out, the package's.
    """

    name: ClassVar[str] = "chat_score"
    paths: dict[str, str] | None = None
    sha256: dict[str, Sha256] | None = None
    folder: str = SHIPPED

    def __post_init__(self) -> None:
        for language, expected in (self.sha256 or {}).items():
            check(Path(self._paths.get(language, language)).expanduser(), expected)
        for language in self._paths:
            _ = self._pair(language)  # what cannot be read must stop the run before it starts

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return sorted({*map(str, self._paths.values()), *model_files(self.folder, self.name)})

    @cached_property
    def _paths(self) -> dict[str, str]:
        return all_bundled() | (self.paths or {})

    @cached_property
    def _models(self) -> dict[str, PerplexityModel]:
        """Those of the folder, whose files are the ones that the detectors were fitted with."""
        there = {Path(file).name: file_sha256(Path(file)) for file in model_files(self.folder, self.name)}
        for path in self._paths.values():
            for file, expected in load(path).about.get("kenlm", {}).items():
                if there.get(file) != expected:
                    raise UserError(
                        f"filter {self.name}: {path} was fitted with another {file} than that of {self.folder}; "
                        "options.folder is the folder that obelics fit chat-detector was given"
                    )
        return PerplexityModel.load_folder(self.folder, self.name)

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self._paths else "no detector is given (options.paths)"

    def _pair(self, language: str | None) -> tuple[ChatDetector, PerplexityModel] | None:
        path, model = self._paths.get(language or ""), self._models.get(language or "")
        return None if path is None or model is None else (load(path), model)

    def score(self, text: Text) -> float | None:
        """None in a language without a detector and a KenLM model, and for a text of fewer than 50 words."""
        pair = self._pair(text.language)
        return None if pair is None else pair[0].score(text.text, pair[1])

    def reasons(self, text: Text) -> Iterator[tuple[str, str, str]]:
        """The words and pairs that speak most for a chat model, and the log odds of both parts of the detector."""
        pair = self._pair(text.language)
        if pair is not None:
            yield from told(pair[0], text.text, pair[1]).rows
