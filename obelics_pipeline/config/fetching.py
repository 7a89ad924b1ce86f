"""How images are fetched: politely, and never from where one must not."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from obelics_pipeline.config.section import Section


class FetchingConfig(Section):
    """Limits and manners of the image fetcher."""

    enabled: bool = Field(True, description="false: no network; documents are kept without image bytes.")
    buckets: PositiveInt = Field(64, description="Units of work: hosts are dealt out to this many buckets by hash.")
    user_agent: str = Field(
        "obelics-pipeline/0.1 (image-text research; set fetch.user_agent to your contact)",
        description="User-Agent header. Put a contact address into it.",
    )
    robots_token: str = Field("obelics-pipeline", description="The name that robots.txt groups are matched against.")
    robots_txt: bool = Field(True, description="Honour robots.txt of every host that is asked, redirects included.")
    opt_out_directives: tuple[str, ...] = Field(
        ("noai", "noimageai", "noindex", "noimageindex"),
        description="X-Robots-Tag directives that forbid the use of an image (img2dataset's default set).",
    )
    threads: PositiveInt = Field(32, description="Concurrent requests of one worker.")
    per_host: PositiveInt = Field(2, description="Concurrent requests to one host.")
    host_delay_seconds: NonNegativeFloat = Field(0.0, description="Seconds between the starts of two requests to one host.")
    timeout_seconds: PositiveFloat = Field(
        10.0, description="Total seconds of one image, redirects included (img2dataset: 10 per read)."
    )
    retries: NonNegativeInt = Field(1, description="Further tries after a timeout, a reset or a 5xx answer.")
    max_redirects: NonNegativeInt = Field(5, description="Redirects followed for one image.")
    max_bytes: PositiveInt = Field(20 * 2**20, description="Bytes of one image; a larger one is refused.")
    max_pixels: PositiveInt = Field(50_000_000, description="Pixels of one frame, from the header, before decoding.")
    max_frames: PositiveInt = Field(1, description="Frames; an animated image is refused (its first frame is not the image).")
    allow_private: tuple[str, ...] = Field(
        (), description="CIDR networks, or host:port, that may be asked though they are private, e.g. 127.0.0.1/32."
    )
    reencode: Literal["never", "jpeg", "webp", "png"] = Field(
        "never", description="never: the original bytes are kept. Else the format images are re-encoded to."
    )
    reencode_quality: int = Field(95, ge=1, le=100, description="Encoder quality where images are re-encoded.")
    reencode_size: PositiveInt | None = Field(None, description="Longest side in pixels after re-encoding; null: unchanged.")
