"""What those who made pages and pictures allow: opt-out lists, what a crawl heard of them, licences."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from obelics_pipeline.core.config.section import Section, Sha256

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]{0,39}$")]
Subject = Literal["pages", "images"]
LicenceSource = Literal["link_rel", "json_ld", "microdata", "rdfa", "meta", "a_rel", "link"]

# What a licence can be called: the families of policy/opt_outs/licence_id.py, with a version or without.
_LICENCE = r"^(pdm|cc0|pddl|cc-pddc|cc(-(by|sa|nc|nd)){1,3}|odc-by|ogl-uk|odbl|fal|gfdl|other)(-\d{1,2}\.\d)?$"
LicenceName = Annotated[str, Field(pattern=_LICENCE)]


class OptOutListConfig(Section):
    """A file of those who do not want to be in a corpus."""

    path: str = Field(
        description="A path or a URL that fsspec reads. Text with one entry a line (# begins a comment), Parquet "
        "(.parquet) or JSON lines (.jsonl); text and JSON may be packed by gzip or Zstandard."
    )
    kind: Literal["urls", "domains", "hashes"] = Field(
        description="urls: as dedup.page_url compares them. domains: with all below them. hashes: sha256, in "
        "hexadecimal, of an address as written or in its normal form, or of an image's bytes."
    )
    column: str | None = Field(
        None, description="The column of Parquet, or the key of JSON; null: url, domain, sha256."
    )
    sha256: Sha256 | None = Field(None, description="What the file must have; null: not compared.")
    of: tuple[Subject, ...] = Field(("pages", "images"), min_length=1, description="What it is about.")
    max_bytes: PositiveInt = Field(
        8 * 2**30, description="Bytes of the file, after decompression; a larger one is refused."
    )


class OptOutServiceConfig(Section):
    """An online service that is asked whether addresses are opted out, in the manner of Spawning's."""

    url: str = Field(pattern="^https?://", description="Where addresses are sent to, by POST.")
    name: Name = Field("service", description="What drops an image or a document is opt_out_ and this.")
    of: tuple[Subject, ...] = Field(("pages", "images"), min_length=1, description="What it is asked about.")
    body: Literal["lines", "json"] = Field(
        "lines", description='lines: text/plain, one address a line, as Spawning\'s. json: {"urls": [...]}.'
    )
    answer: Literal["flags", "listed"] = Field(
        "flags",
        description='flags: {"urls": [{"url": ..., "optOut": true}, ...]}, as Spawning\'s; an address without a flag '
        'has no answer. listed: {"urls": [...]}, those that are opted out.',
    )
    key_variable: str | None = Field(
        None,
        pattern="^[A-Z][A-Z0-9_]*$",
        description="The environment variable that holds the key, which is sent as `Authorization: API <key>`.",
    )
    batch: PositiveInt = Field(1000, le=10_000, description="Addresses of one request (Spawning: at most 10,000).")
    requests_per_second: PositiveFloat = Field(2.0, description="Requests begun in a second, by the whole run.")
    buckets: PositiveInt = Field(
        1, description="Parts that the addresses are dealt out to; one is held in memory: a few million addresses."
    )
    timeout_seconds: PositiveFloat = Field(20.0, description="Total seconds of one request (datadiligence: 20).")
    retries: NonNegativeInt = Field(5, description="Further tries of a request that failed (datadiligence: 5).")
    backoff_seconds: NonNegativeFloat = Field(
        1.0, description="Seconds before the first further try, doubled for each; a Retry-After counts instead."
    )
    max_wait_seconds: NonNegativeFloat = Field(120.0, description="Longest wait before a further try.")
    max_bytes: PositiveInt = Field(32 * 2**20, description="Bytes of one answer; a longer one is a failure.")
    on_failure: Literal["drop", "keep", "stop"] = Field(
        "stop",
        description="What is done about an address without an answer. drop: as if opted out (opt_out_unanswered). "
        "keep: it stays. stop: the run stops, and the same command goes on later.",
    )
    allow_private: tuple[str, ...] = Field((), description="As fetch.allow_private, for a service of one's own.")
    user_agent: str = Field("obelics-pipeline/0.1", description="User-Agent header.")

    @property
    def manners(self) -> set[str]:
        """The keys that change no answer, and so are in no id."""
        known = {"url", "body", "answer", "of", "name", "on_failure"}
        return set(type(self).model_fields) - known


class LicenceConfig(Section):
    """The licence that a page says it is under."""

    read: bool = Field(False, description="Look for it: columns licence, licence_url, licence_source.")
    require: tuple[LicenceName, ...] | None = Field(
        None,
        min_length=1,
        description="Keep only documents under these: cc-by is any version of it, cc-by-4.0 is that one. All that a "
        "page names must be among them. null: any, and none.",
    )
    sources: tuple[LicenceSource, ...] | None = Field(
        None, min_length=1, description="Where a licence must be said to count for `require`; null: anywhere."
    )

    @property
    def active(self) -> bool:
        """Whether pages are looked at."""
        return self.read or self.require is not None


class SignalsConfig(Section):
    """What a page, its headers and its site said when it was crawled."""

    record: bool = Field(False, description="Note it in general_metadata, with the day of the capture.")
    tdm: Literal["ignore", "drop"] = Field(
        "ignore", description="drop: no page whose rights for text and data mining are reserved (tdm_reserved)."
    )
    robots_txt: tuple[str, ...] = Field(
        (),
        description="WARC files with captures of robots.txt (Common Crawl: robotstxt), named as --input is.",
    )
    robots: Literal["ignore", "drop"] = Field(
        "ignore", description="drop: no page that the robots.txt of its host, as captured, does not allow (robots_txt)."
    )
    robots_tokens: tuple[str, ...] = Field(
        ("obelics-pipeline",), min_length=1, description="Names that a robots.txt must allow, each of them."
    )


class ConsentConfig(Section):
    """What is asked for before a page or an image is used. Nothing is, unless it is named here."""

    lists: dict[Name, OptOutListConfig] = Field(
        default_factory=dict, description="Opt-out lists by name; what they drop is opt_out_ and the name."
    )
    service: OptOutServiceConfig | None = Field(
        None, description="A service that is asked which image addresses have opted out; null: none."
    )
    licence: LicenceConfig = Field(
        default_factory=LicenceConfig,
        description="Licences that pages state: whether they are read, and which are required.",
    )
    crawl: SignalsConfig = Field(
        default_factory=SignalsConfig, description="What a page and its site said about use when they were crawled."
    )

    @field_validator("service")
    @classmethod
    def _own_name(cls, service: OptOutServiceConfig | None) -> OptOutServiceConfig | None:
        if service is not None and service.name == "unanswered":
            raise ValueError("service.name: unanswered is what addresses without an answer are called; give another")
        return service

    @model_validator(mode="after")
    def _captures_are_given(self) -> ConsentConfig:
        if self.crawl.robots == "drop" and not self.crawl.robots_txt:
            raise ValueError("crawl.robots: drop needs captures: name WARC files of robots.txt in crawl.robots_txt")
        return self

    def lists_of(self, subject: Subject) -> dict[str, OptOutListConfig]:
        """The lists about pages, or about images."""
        return {name: entry for name, entry in self.lists.items() if subject in entry.of}
