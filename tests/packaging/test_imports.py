"""The command answers without loading what only some of its work needs."""

import subprocess
import sys
from pathlib import Path

import pytest

# Each costs from a tenth of a second to several, or is not in the base install.
HEAVY = (
    *("open_clip", "open_flamingo", "huggingface_hub"),
    *("torch", "ray", "apache_beam", "streamlit", "transformers", "img2dataset", "PIL", "cv2", "datasets", "pandas"),
    *("webdataset", "duckdb", "pyarrow", "numpy", "fsspec", "aiohttp", "selectolax", "fastwarc", "resiliparse"),
)
EXTRAS = (
    "img2dataset",
    "transformers",
    "PIL",
    "protego",
    "datasets",
    "s3fs",
    "gcsfs",
    "cv2",
    "pandas",
    "torch",
    "ray",
    "apache_beam",
    "openTSNE",
    "sklearn",
)


def loaded_after(code: str) -> set[str]:
    """Names of the modules that are loaded once a line of Python ran in a fresh interpreter."""
    code = f"import sys\n{code}\nprint('MODULES', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("MODULES ")[2].split())


def test_the_command_line_loads_nothing_heavy() -> None:
    assert loaded_after("import obelics_pipeline.cli") & set(HEAVY) == set()


@pytest.mark.parametrize(
    "stage",
    [
        "obelics_pipeline.read",
        "obelics_pipeline.extract.stage",
        "filters",
        "models",
        "models.farm_detector.detector",
        "models.flamingo.loading",
        "models.flamingo.scorer",
        "models.similarity.columns",
        "models.similarity.loading",
        "obelics_pipeline.corpus_map.command",
        "obelics_pipeline.corpus_map.region",
        "obelics_pipeline.corpus_map.training_set",
        "obelics_pipeline.fetch",
        "obelics_pipeline.fit.farm_detector.command",
        "obelics_pipeline.score.command",
    ],
)
def test_no_room_loads_an_extra_on_import(stage: str) -> None:
    assert loaded_after(f"import {stage}") & set(EXTRAS) == set()


def test_the_text_half_works_without_any_extra() -> None:
    block = f"""
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""
    rooms = "obelics_pipeline.cli, obelics_pipeline.extract.stage, filters, models, obelics_pipeline.shard"
    loaded_after(f"{block}\nimport {rooms}")
