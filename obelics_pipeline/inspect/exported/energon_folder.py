"""A folder that Megatron-Energon reads: uniform tars, `.nv-meta/dataset.yaml`, and `cooker.py` with the Cooker.

Energon reads WebDataset tars after `energon prepare` has written their index and splits (its documentation, "Data
Preparation" and "Crude Datasets"; megatron-energon 7.4). The data set is crude: the Cooker makes an InterleavedSample
of a document, texts and pictures in the order of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files as resources

from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.exported.format import ExportedFile, Format
from obelics_pipeline.inspect.exported.uniform_tar import count_uniform_tar, write_uniform_tar

COOKER, DATASET = "cooker.py", ".nv-meta/dataset.yaml"

# `subflavors` is what a Cooker chooses its samples by: cooker.py names the same.
_DATASET = """\
__module__: megatron.energon
__class__: CrudeWebdataset
subflavors:
  layout: obelics-interleaved
"""


def beside(_: Sequence[ExportedFile]) -> Mapping[str, bytes]:
    """The description of the data set, and the Cooker to import in one's own task encoder."""
    cooker = resources(__package__).joinpath("energon_cooker.py.txt").read_bytes()
    return {DATASET: _DATASET.encode(), COOKER: cooker}


def _opens(output: Location) -> str:
    return f"energon prepare {output} --non-interactive --split-ratio 1,0,0 --skip-dataset-yaml"


ENERGON = Format("energon", "shard-{number:06d}.tar", write_uniform_tar, count_uniform_tar, beside, _opens)
