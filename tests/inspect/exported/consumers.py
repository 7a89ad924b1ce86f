"""Who opens what: the rows of the table in docs/howto/publish.md."""

from __future__ import annotations

from typing import NamedTuple


class Consumer(NamedTuple):
    """A library that reads a publication or an export: its package, the command and the line that a person types.

    `imports` go before the line, and `count` gives the documents of `opened`, what the line opened. Both are empty
    where the line is run by another test, which needs torch or a program.
    """

    package: str
    written_by: str  # `publish`, or the format of `export`
    line: str
    imports: str = ""
    count: str = ""


PUBLISHED, EXPORTED = "published", "out/export-{}"
STREAM = 'load_dataset("published", split="train", streaming=True)'
TARS = EXPORTED.format("webdataset")
LANCE = EXPORTED.format("lance")

PREPARE = f"energon prepare {EXPORTED.format('energon')} --non-interactive --split-ratio 1,0,0 --skip-dataset-yaml"

CONSUMERS = [
    Consumer(
        "datasets",
        "publish",
        'load_dataset("published", split="train")',
        "from datasets import load_dataset",
        "len(opened)",
    ),
    Consumer("datasets", "publish", STREAM, "from datasets import load_dataset", "sum(1 for _ in opened)"),
    Consumer("duckdb", "publish", "duckdb.sql(\"FROM 'published/data/*.parquet'\")", "import duckdb", "len(opened)"),
    Consumer("pandas", "publish", 'pandas.read_parquet("published/data")', "import pandas", "len(opened)"),
    Consumer("polars", "publish", 'polars.read_parquet("published/data/*.parquet")', "import polars", "len(opened)"),
    Consumer(
        "pyarrow", "publish", 'parquet.read_table("published/data")', "from pyarrow import parquet", "len(opened)"
    ),
    Consumer("ray", "publish", 'ray.data.read_parquet("published/data")'),
    Consumer(
        "datasets",
        "webdataset",
        f'load_dataset("webdataset", data_files="{TARS}/*.tar", split="train")',
        "from datasets import load_dataset",
        "len(opened)",
    ),
    Consumer(
        "webdataset",
        "webdataset",
        f'webdataset.WebDataset(glob("{TARS}/*.tar"), shardshuffle=False).decode()',
        "import webdataset; from glob import glob",
        "sum(1 for _ in opened)",
    ),
    Consumer("pylance", "lance", f'lance.dataset("{LANCE}")', "import lance", "opened.count_rows()"),
    Consumer(
        "polars",
        "lance",
        f'polars.scan_pyarrow_dataset(lance.dataset("{LANCE}"))',
        "import lance, polars",
        'len(opened.select("doc_id").collect())',
    ),
    Consumer(
        "mosaicml-streaming", "mds", f'StreamingDataset(local="{EXPORTED.format("mds")}", shuffle=True, batch_size=8)'
    ),
    Consumer("megatron-energon", "energon", PREPARE),
    Consumer("nemo-curator", "curator", f'InterleavedParquetReader(file_paths="{EXPORTED.format("curator")}")'),
    Consumer(
        "nemo-curator",
        "mint1t",
        f'InterleavedWebdatasetReader(file_paths="{EXPORTED.format("mint1t")}", materialize_on_read=True)',
    ),
]
