"""Assumptions for what no run measures beforehand: prices, and typical images of the web; each with source and date."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field, NonNegativeFloat, PositiveFloat, ValidationError

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.errors import UserError


class Assumptions(Section):
    """Defaults of an estimate, in US dollars where they are money. Each can be set by `--price NAME=VALUE`."""

    vcpu_hour: NonNegativeFloat = Field(
        0.0425,
        description="Dollars of one virtual CPU for an hour, idle or not. AWS EC2 c5.2xlarge on demand, us-east-1: "
        "0.34 for 8 (docs.aws.amazon.com, example of spot prices, seen 2026-11); spot is about half.",
    )
    gb_month: NonNegativeFloat = Field(
        0.023,
        description="Dollars for 1 GB (10^9 bytes) kept for a month. S3 Standard, first 50 TB, us-east-1 "
        "(cloudburn.io, prices of 2026-03).",
    )
    put_1000: NonNegativeFloat = Field(
        0.005,
        description="Dollars for 1,000 PUT or LIST requests. S3 Standard, us-east-1 (devnotes.tech, seen 2026-11).",
    )
    get_1000: NonNegativeFloat = Field(
        0.0004,
        description="Dollars for 1,000 GET or HEAD requests. S3 Standard, us-east-1 (devnotes.tech, seen 2026-11).",
    )
    egress_gb: NonNegativeFloat = Field(
        0.09,
        description="Dollars for 1 GB that leaves the cloud, up to 10 TB a month; what comes in is free "
        "(devnotes.tech, seen 2026-11). Not in the table: a run beside its input and output sends nothing out.",
    )
    months: PositiveFloat = Field(1.0, description="Months for which the run's folder is kept. A choice, not a fact.")
    request_seconds: NonNegativeFloat = Field(
        0.02,
        description="Seconds of one request to an object store: 10 to 30 ms are usual. No source; measure yours.",
    )
    image_success: float = Field(
        0.55,
        ge=0,
        le=1,
        description="Share of images that can be downloaded. OBELICS, appendix A.1.2 (2023): 55 %. Measured "
        "instead by --fetch-sample.",
    )
    image_bytes: PositiveFloat = Field(
        150_000,
        description="Bytes of a downloaded image, and most of the bytes of a run. No source: a guess. "
        "Measured instead by --fetch-sample.",
    )
    image_seconds: PositiveFloat = Field(
        1.0,
        description="Seconds that a thread waits for one image. img2dataset's README states 100 million URLs in 20 "
        "hours on one machine, 1,400 a second; with a thousand threads that is 0.7 s. Measured instead by "
        "--fetch-sample.",
    )
    image_cpu_seconds: NonNegativeFloat = Field(
        0.01,
        description="CPU seconds of one image: TLS, decoding, hashes. Decoding alone takes about 3 ms for 150 kB. "
        "Measured instead by --fetch-sample.",
    )
    gpu_flops: PositiveFloat = Field(
        989e12,
        description="Operations a second of one GPU at its best: dense bfloat16 of an H100 SXM by NVIDIA's data sheet "
        "(2022); an A100 has 312e12.",
    )
    gpu_share: float = Field(
        0.4,
        gt=0,
        le=1,
        description="Share of that which scoring reaches. No source: PaLM's training reached 0.46 of its chips (arXiv "
        "2204.02311, table 3). Measure yours.",
    )
    gpu_hour: NonNegativeFloat = Field(
        3.0,
        description="Dollars of one GPU for an hour. An H100 SXM on demand: 2.49 to 3.99 (pricegpu.pages.dev, early "
        "2026).",
    )
    bytes_per_token: PositiveFloat = Field(
        4.0, description="Bytes of text to a token. No source: a rule of thumb for English."
    )
    parameters: NonNegativeFloat = Field(
        0.0,
        description="A choice: parameters of a model whose files, config.json and name say none; 0: unknown.",
    )


def assumptions_of(settings: Sequence[str]) -> Assumptions:
    """The defaults with NAME=VALUE laid over them. Raises UserError in one line."""
    values: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in Assumptions.model_fields:
            raise UserError(f"--price {setting}: must be NAME=VALUE, NAME one of {', '.join(Assumptions.model_fields)}")
        values[key] = value
    try:
        return Assumptions.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise UserError(f"--price {name}={values[name]}: {first['msg']}") from None
