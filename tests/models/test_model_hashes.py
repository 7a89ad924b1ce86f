"""Files of models that a config names with a sha256 are those files, or nothing begins."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.farm_score import FarmScore
from obelics_pipeline.filters.perplexity import Perplexity
from obelics_pipeline.filters.quality_score import QualityScore
from obelics_pipeline.models.farm_detector.detector import all_bundled
from obelics_pipeline.models.language_id import LanguageModel, model_path
from obelics_pipeline.models.perplexity import SHIPPED as KENLM
from obelics_pipeline.models.quality_classifier import SHIPPED as CLASSIFIER

DETECTOR = str(all_bundled()["en"])


def sha256(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


LOADERS: dict[str, tuple[str | Path, Callable[[str, str], object]]] = {
    "language": (model_path("lid.176.ftz"), LanguageModel.load),
    "farm_score": (DETECTOR, lambda path, expected: FarmScore(paths={"en": path}, sha256={"en": expected})),
    "quality_score": (Path(CLASSIFIER) / "en.ftz", lambda path, expected: QualityScore(model=path, sha256=expected)),
    "perplexity": (
        Path(KENLM) / "en.sp.model",
        lambda path, expected: Perplexity(folder=str(Path(path).parent), sha256={"en.sp.model": expected}),
    ),
}


@pytest.mark.parametrize("kind", LOADERS)
def test_the_right_file_is_read_and_one_that_was_changed_is_refused_before(kind: str, tmp_path: Path) -> None:
    file, load = LOADERS[kind]
    folder = shutil.copytree(Path(file).parent, tmp_path / "models")
    copy = folder / Path(file).name
    expected = sha256(copy)
    load(str(copy), expected)
    copy.write_bytes(b"not a model: whoever reads this will crash or say that it cannot be read")
    with pytest.raises(UserError, match="damaged or another file"):
        load(str(copy), expected)


def test_a_config_may_say_the_sha256_of_the_language_model() -> None:
    right = sha256(model_path("lid.176.ftz"))
    assert load_config("default", [f"language.model_sha256={right}"]).language.model_sha256 == right
    with pytest.raises(UserError, match="model_sha256"):
        load_config("default", ["language.model_sha256=abc"])
