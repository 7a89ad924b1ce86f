"""Files of a finished unit with other rows in them, as if its stage had written these."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import manifest_path, read_manifest
from obelics_pipeline.core.content_name import content_name
from obelics_pipeline.core.storage import file_sha256


def rewrite(folder: Path, unit: str, table: pa.Table) -> None:
    """Put these rows into the main file of a unit; `folder` is that of its stage."""
    manifest = read_manifest(folder, unit)
    assert manifest is not None
    manifest.path(folder, "data").unlink()
    pq.write_table(table, part := folder / "part.parquet")
    sha256, size = file_sha256(part), part.stat().st_size
    name = content_name(unit, sha256, ".parquet")
    part.rename(folder / name)
    whole = replace(manifest, files=manifest.files | {"data": {"name": name, "sha256": sha256, "bytes": size}})
    manifest_path(folder, unit).write_text(json.dumps(whole.to_json()))
