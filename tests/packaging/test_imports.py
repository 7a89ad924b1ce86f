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
    assert loaded_after("import obelics_pipeline.cli.main") & set(HEAVY) == set()


@pytest.mark.parametrize(
    "stage",
    [
        "obelics_pipeline.stages.read",
        "obelics_pipeline.stages.extract.stage",
        "obelics_pipeline.filters",
        "obelics_pipeline.models",
        "obelics_pipeline.models.farm_detector.detector",
        "obelics_pipeline.models.flamingo.loading",
        "obelics_pipeline.models.flamingo.scorer",
        "obelics_pipeline.models.similarity.columns",
        "obelics_pipeline.models.similarity.loading",
        "obelics_pipeline.inspect.map.command",
        "obelics_pipeline.inspect.map.region",
        "obelics_pipeline.inspect.map.training_set",
        "obelics_pipeline.stages.fetch",
        "obelics_pipeline.fit.farm_detector.command",
        "obelics_pipeline.jobs.score_rows.command",
    ],
)
def test_no_room_loads_an_extra_on_import(stage: str) -> None:
    assert loaded_after(f"import {stage}") & set(EXTRAS) == set()


TORCH = """
import sys, tempfile, pathlib
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "torch" / "utils").mkdir(parents=True)
(folder / "torch" / "__init__.py").write_text("class Tensor: pass")
(folder / "torch" / "utils" / "__init__.py").write_text("")
(folder / "torch" / "utils" / "data.py").write_text("class DataLoader: 0")
with (folder / "torch" / "utils" / "data.py").open("a") as stream:
    print("", "class IterableDataset: 0", sep=chr(10), file=stream)
sys.path.insert(0, str(folder))  # found by whoever looks for it
"""
SHARD = """
import pathlib, tempfile
from obelics_pipeline.stages.shard.readback import webdataset_samples
from obelics_pipeline.core.shards.tar import ShardWriter
path = pathlib.Path(tempfile.mkdtemp(), "x.tar")
with ShardWriter(path) as writer:
    writer.append("a", [("json", b"{}")])
assert [key for key, _ in webdataset_samples(path)] == ["a"]
"""
IMAGE = """
import pathlib, tempfile
from tests.stages.fetch.site import Site, answer, fetch, picture
sys.modules["img2dataset"] = None  # not installed
with Site({"/a": answer(200, picture())}) as site:
    assert fetch(site, pathlib.Path(tempfile.mkdtemp()), "/a")["/a"].status == "ok"
"""


def test_a_shard_is_written_and_read_without_torch() -> None:
    assert "torch" in loaded_after(f"{TORCH}\nimport webdataset")
    assert loaded_after(TORCH + SHARD) & {"torch", "pandas", "datasets", "webdataset"} == set()
    whole = loaded_after(f"{TORCH}{SHARD}\nimport webdataset")  # for others it is as it was
    assert {"webdataset", "torch"} <= whole


def test_an_image_is_fetched_without_img2dataset_and_all_that_it_imports() -> None:
    heavy = {"pandas", "wandb", "webdataset", "albumentations", "cv2", "scipy"}
    assert loaded_after(IMAGE) & heavy == set()


@pytest.mark.slow
def test_a_worker_that_did_a_unit_of_each_stage_loaded_nothing_heavy(
    warcs: list[Path], proxy: str, tmp_path: Path
) -> None:
    code = f"""
import os, pathlib
os.environ["http_proxy"] = {proxy!r}
from obelics_pipeline.jobs.main_job import run
from obelics_pipeline.stages.shard.value import SHARD
from tests.stages.site.farms import Here
for name in SHARD.preload:
    __import__(name)
at_first = set(sys.modules)
run("default", [{str(warcs[0])!r}], {str(tmp_path / "out")!r}, 1, ["fetch.retries=0", "shard.target_bytes=400000"],
    open_engine=lambda *_: Here(pathlib.Path({str(tmp_path)!r})))
for name in at_first - {{"sys"}}:
    del sys.modules[name]
"""
    found = loaded_after(TORCH + code)
    assert (tmp_path / "out" / "manifest.json").is_file()
    heavy = {"torch", "img2dataset", "wandb", "webdataset", "albumentations", "cv2", "pandas", "datasets"}
    assert found & heavy == set()


def test_the_text_half_works_without_any_extra() -> None:
    block = f"""
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""
    rooms = ("cli.main", "stages.extract.stage", "filters", "models", "stages.shard")
    loaded_after("\n".join([block, *(f"import obelics_pipeline.{room}" for room in rooms)]))
