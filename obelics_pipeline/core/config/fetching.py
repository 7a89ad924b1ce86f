"""How images are fetched: politely, and never from where one must not."""

from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, field_validator

from obelics_pipeline.core.config.section import Section


class FetchingConfig(Section):
    """Limits and manners of the image fetcher."""

    enabled: bool = Field(True, description="false: no network; documents are kept without image bytes.")
    sources: tuple[str, ...] = Field(
        (),
        description="Images that img2dataset fetched before: folders, *.tar, *.parquet, or globs of these, local "
        "or in a store. A host is asked only for what is not there.",
    )
    source_images: Literal["original", "same_size", "any"] = Field(
        "same_size",
        description="Which images of `sources` are taken. original: those whose bytes have the sha256 that img2dataset "
        "noted of what the host sent; same_size: also those that it encoded again, in the size that they had; any: "
        "also those that it resized. The host is asked for the others.",
    )
    buckets: PositiveInt = Field(
        16,
        description="Units of work: hosts are dealt out to this many buckets by hash. A bucket lasts as long as its "
        "slowest host, in rounds of unit_seconds, and a worker holds its URLs in memory: a few thousand each are well; "
        "for a million URLs take some hundreds.",
    )
    unit_seconds: PositiveFloat = Field(
        1800.0,
        le=3000,
        description="Seconds after which a bucket's unit starts no new request: what it has is committed, and the rest "
        "follows in another round, on any worker. At most 3000, since a worker is killed after 3600 and must store its "
        "images before. No result depends on it.",
    )
    user_agent: str = Field(
        "obelics-pipeline/0.1 (image-text research; set fetch.user_agent to your contact)",
        description="User-Agent header. Put a contact address into it.",
    )
    robots_token: str = Field("obelics-pipeline", description="The name that robots.txt groups are matched against.")
    robots_txt: bool = Field(True, description="Honour robots.txt of every host that is asked, redirects included.")
    ai_txt: bool = Field(
        False, description="Honour ai.txt of every host that is asked: as robots.txt, but about training (Spawning)."
    )
    tdm: Literal["ignore", "header", "file"] = Field(
        "ignore",
        description="The TDM Reservation Protocol. header: no image whose answer reserves the right to mine it; file: "
        "nor one that /.well-known/tdmrep.json of its host names, which is one more request to each host.",
    )
    opt_out_directives: tuple[str, ...] = Field(
        ("noai", "noimageai", "noindex", "noimageindex"),
        description="X-Robots-Tag directives that forbid the use of an image (img2dataset's default set).",
    )
    threads: PositiveInt = Field(32, description="Concurrent requests of one worker.")
    per_host: PositiveInt = Field(2, description="Concurrent requests to one host.")
    host_delay_seconds: NonNegativeFloat = Field(
        0.0, description="Seconds between the starts of two requests to one host."
    )
    max_crawl_delay_seconds: NonNegativeFloat = Field(
        30.0,
        description="Longest Crawl-delay of a robots.txt, or Retry-After of an answer, that is waited for; "
        "the images of a host that asks for a longer Crawl-delay fail (crawl_delay_too_long).",
    )
    max_host_failures: PositiveInt = Field(
        10,
        description="Timeouts, refusals and failed look-ups in a row after which a host is given up for this round; "
        "its remaining images fail at once (host_down) and can be retried alone.",
    )
    timeout_seconds: PositiveFloat = Field(
        10.0, description="Total seconds of one image, redirects included (img2dataset: 10 per read)."
    )
    retries: NonNegativeInt = Field(1, description="Further tries after a timeout, a reset or a 5xx answer.")
    max_redirects: NonNegativeInt = Field(5, description="Redirects followed for one image.")
    max_bytes: PositiveInt = Field(20 * 2**20, description="Bytes of one image; a larger one is refused.")
    max_bytes_in_flight: PositiveInt = Field(
        128 * 2**20,
        description="Bytes of bodies that one worker holds at a time (each thread may hold 1 MiB; larger bodies share "
        "what is left, at least one at a time).",
    )
    max_pixels: PositiveInt = Field(
        50_000_000,
        le=178_956_970,
        description="Pixels of one frame, from the header, before decoding; 0.4 of it for WebP, 0.6 for AVIF, 0.7 for "
        "TIFF and progressive JPEG in CMYK, whose decoders need more memory per pixel. At most 178,956,970: "
        "Pillow's own guard.",
    )
    max_frames: PositiveInt = Field(
        1, description="Frames; an animated image is refused (its first frame is not the image)."
    )
    allow_private: tuple[str, ...] = Field(
        (), description="CIDR networks, or host:port, that may be asked though they are private, e.g. 127.0.0.1/32."
    )
    ports: tuple[Annotated[int, Field(ge=1, le=65_535)], ...] = Field(
        (80, 443, 8080, 8443),
        min_length=1,
        description="TCP ports of public hosts that may be asked, by redirects too; an image at another "
        "is dropped (forbidden_port). The web's own (IANA: http, https, http-alt), and 8443 as its twin for https. "
        "Places of allow_private need not be named here.",
    )
    reencode: Literal["never", "jpeg", "webp", "png"] = Field(
        "never", description="never: the original bytes are kept. Else the format images are re-encoded to."
    )
    reencode_quality: int = Field(
        95, ge=1, le=100, description="Encoder quality of jpeg and webp where images are re-encoded; png is lossless."
    )
    reencode_size: PositiveInt | None = Field(
        None, description="Longest side in pixels after re-encoding; null: unchanged."
    )

    @field_validator("allow_private")
    @classmethod
    def networks_or_places(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse an entry that would allow nothing because it cannot be read."""
        for entry in entries:
            if not (_is_network(entry) or _is_place(entry)):
                raise ValueError(f"{entry!r} is neither a network such as 127.0.0.1/32 nor host:port")
        return entries

    @field_validator("user_agent", "robots_token")
    @classmethod
    def one_header_line(cls, value: str) -> str:
        """Refuse what cannot stand in a header."""
        if not (value.strip() and value.isascii() and value.isprintable()):
            raise ValueError("must be printable ASCII, and not empty")
        return value.strip()


def _is_network(entry: str) -> bool:
    try:
        ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False
    return True


def _is_place(entry: str) -> bool:
    host, _, port = entry.rpartition(":")
    return bool(host) and "/" not in host and port.isascii() and port.isdigit() and 0 < int(port) < 65536
