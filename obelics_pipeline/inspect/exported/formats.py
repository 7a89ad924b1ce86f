"""The formats of files, by name."""

from __future__ import annotations

from obelics_pipeline.inspect.exported.energon_folder import ENERGON
from obelics_pipeline.inspect.exported.format import Format
from obelics_pipeline.inspect.exported.interleaved_table import CURATOR
from obelics_pipeline.inspect.exported.mds_shard import MDS
from obelics_pipeline.inspect.exported.mint_tar import MINT
from obelics_pipeline.inspect.exported.uniform_tar import WEBDATASET

FORMATS: dict[str, Format] = {format.name: format for format in (WEBDATASET, MDS, ENERGON, CURATOR, MINT)}
