"""What is read from WARC files, or from tables of documents, and within which bounds."""

from typing import Any, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from obelics_pipeline.core.config.section import Section


class ReadingConfig(Section):
    """How WARC files become decoded pages, and tables of published documents become documents."""

    layout: Literal["pages", "obelics", "published", "mint1t", "mmc4", "omnicorpus", "curator"] = Field(
        "pages",
        description="What the input is. pages: WARC files. The others are rows of interleaved documents, in Parquet, "
        "JSON Lines (.jsonl, .jsonl.gz, .jsonl.zst) or tars: the published OBELICS, what obelics publish writes, "
        "MINT-1T, MMC4, OmniCorpus, the interleaved Parquet of NeMo Curator.",
    )
    unit_rows: PositiveInt = Field(
        500,
        description="Rows of a Parquet file of documents in one unit of work. Another file of rows is one unit.",
    )
    unit_bytes: PositiveInt = Field(
        64 * 2**20,
        description="Compressed bytes of a WARC in one unit of work. A Common Crawl WARC (1 GB) is 16 units.",
    )
    pointer_root: str = Field(
        "https://data.commoncrawl.org/",
        description="What the warc_filename of a pointer table is relative to: a folder or any fsspec URL.",
    )
    pointer_rows: PositiveInt = Field(1000, description="Rows of a pointer table in one unit of work.")
    max_page_bytes: PositiveInt = Field(
        5 * 2**20,
        description="Decoded body bytes. A larger page is dropped (page_too_large). Common Crawl cuts at 5 MiB.",
    )
    mime_types: tuple[str, ...] = Field(
        ("text/html", "application/xhtml+xml"),
        description="Content types that are read as HTML; a missing type is sniffed.",
    )
    honour_noai: bool = Field(
        True, description="Drop pages whose X-Robots-Tag header or robots meta says noai (DeviantArt's convention)."
    )
    robots_token: str = Field(
        "obelics-pipeline", description="The name that scoped X-Robots-Tag directives are matched against."
    )
    request_retries: NonNegativeInt = Field(
        5, description="Further tries of a request to a remote file after an error that may pass."
    )
    retry_wait_seconds: NonNegativeFloat = Field(
        1.0, description="Seconds before the first further try; doubled for each one after it, up to 60."
    )
    request_seconds: PositiveFloat = Field(
        120.0, description="Total seconds of one request to a remote file (at most 8 MiB), over http and https."
    )
    storage_options: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Options of the fsspec file system by protocol, e.g. {s3: {anon: true}}. Secrets "
        "belong into the environment; those among the options are not written beside the output.",
    )
