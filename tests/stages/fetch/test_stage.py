"""The fetch stage: each URL asked once, answers to all who asked, failures asked again on request alone."""

import json
from functools import partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.commit import Attempt, Manifest, names_by_label, once
from obelics_pipeline.core.config import FetchingConfig, ImageSafetyConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.policy.image_safety.known_abuse import prepare
from obelics_pipeline.stages.fetch import stage as fetch_stage
from obelics_pipeline.stages.fetch.host import host_bucket
from obelics_pipeline.stages.fetch.named_images import drop_unnamed
from obelics_pipeline.stages.fetch.requests import REQUESTS, asked_sha256, request_unit, request_units
from obelics_pipeline.stages.fetch.result import (
    PLACE_SCHEMA,
    RESULT_SCHEMA,
    FetchResult,
    results_from_table,
    results_to_table,
)
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.fetch.sources.held import Sources
from obelics_pipeline.stages.fetch.stage import (
    ANSWERS,
    fetch_unit,
    fetch_unit_of,
    fetch_units,
    identity,
    treated_as,
)
from tests.policy.image_safety import photos
from tests.stages.fetch.site import Site, answer, in_turn, picture
from tests.stages.fetch.site import config as site_config
from tests.stages.fetch.sources.made import image, index, write


def refuse_logos(url: str) -> str | None:
    return "image_banned_word" if "logo" in url else None


def extracted(folder: Path, name: str, urls: list[str], reason: str | None = None) -> Manifest:
    """An extracted unit of one document with these images."""
    nodes = [TextNode("text"), *(ImageNode(url, url) for url in urls)]
    with Attempt(folder, Unit("extract", name, "u")) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), [], []) as writer:
            writer.write(Document(name, "http://a.example/", "w", 0, 1, nodes, reason=reason))
        return attempt.commit([])


def asked_in(folder: Path, names: list[str]) -> str:
    """The digest of a bucket's requests, which lie in several files."""
    return asked_sha256(pa.concat_tables([pq.read_table(folder / name) for name in names]))


class Stage:
    """The stage over some extracted units, with everything in one temporary folder."""

    def __init__(self, folder: Path, units: list[Manifest], config: FetchingConfig) -> None:
        self.folder, self.units, self.config = folder, units, config

    def requests(self, everything: bool = False) -> list[tuple[int, str, str]]:
        rows = []
        for unit in request_units(self.units, self.config, "rules", everything):
            manifest = request_unit(
                unit,
                folder=self.folder / "requests",
                document_folder=self.folder,
                buckets=self.config.buckets,
                url_reason=refuse_logos,
            )
            rows += pq.read_table(manifest.path(self.folder / "requests", "data")).to_pylist()
        return [(row["bucket"], row["partition"], row["url"]) for row in rows]

    def fetch(
        self,
        retry: tuple[str, ...] = (),
        safety: ImageSafetyConfig | None = None,
        measures: tuple[str, ...] = (),
        sources: Sources | None = None,
    ) -> list[Manifest]:
        """As the job does, with the shuffle done by hand."""
        safety = safety or ImageSafetyConfig()
        lists = prepare(safety.known_abuse)
        treated = treated_as(safety, "" if lists is None else lists.identity, measures)
        folder, dealt_folder = self.folder / "fetch", self.folder / "dealt"
        dealt_folder.mkdir(exist_ok=True)
        files: dict[str, list[str]] = {}
        for number, unit in enumerate(request_units(self.units, self.config, "rules")):
            self.requests()
            source = next((self.folder / "requests").glob(f"{unit.name}-*.parquet"))
            table = pq.read_table(source)
            for bucket in set(table["bucket"].to_pylist()):
                name = f"{number}-{bucket}.parquet"
                pq.write_table(table.filter([b == bucket for b in table["bucket"].to_pylist()]), dealt_folder / name)
                files.setdefault(str(bucket), []).append(name)
        names = names_by_label(folder)
        digests = {bucket: asked_in(dealt_folder, files[bucket]) for bucket in files}
        requests = Partitions(dealt_folder, files, digests)
        planned = fetch_units(requests, folder, self.config, names, retry, treated, "", sources)
        work = partial(
            fetch_unit,
            folder=folder,
            request_folder=dealt_folder,
            images=self.folder / "images",
            config=self.config,
            safety=safety,
            document_folders=[self.folder],
            measures=measures,
            sources=sources,
        )
        return [once(fetch_unit_of(value, names), work=work, folder=folder) for value in planned]


@pytest.fixture
def one_bucket() -> dict[str, int]:
    return {"buckets": 1}


def test_what_is_dropped_or_refused_by_its_url_is_not_asked_for(tmp_path: Path) -> None:
    urls = ["http://a.example/1.jpg", "http://a.example/logo.png", "http://b.example/2.jpg", "http://a.example/1.jpg"]
    units = [
        extracted(tmp_path, "one", urls),
        extracted(tmp_path, "two", ["http://c.example/3.jpg"], reason="language"),
    ]
    config = FetchingConfig(buckets=8)
    asked = Stage(tmp_path, units, config).requests()
    assert [url for _, _, url in asked] == ["http://a.example/1.jpg", "http://b.example/2.jpg"]
    assert all(bucket == host_bucket(url, 8) for bucket, _, url in asked)


def test_of_a_sample_dropped_documents_ask_as_well(tmp_path: Path) -> None:
    units = [
        extracted(tmp_path, "kept", ["http://a.example/1.jpg"]),
        extracted(tmp_path, "dropped", ["http://a.example/2.jpg", "http://a.example/logo.jpg"], reason="word_count"),
    ]
    stage = Stage(tmp_path, units, FetchingConfig())
    assert [url for _, _, url in stage.requests()] == ["http://a.example/1.jpg"]
    every = [url for _, _, url in stage.requests(everything=True)]
    assert every == ["http://a.example/1.jpg", "http://a.example/2.jpg"]


def test_each_url_is_asked_once_and_answered_to_all(tmp_path: Path, one_bucket: dict[str, int]) -> None:
    with Site({"/a": answer(200, picture()), "/b": answer(404)}) as site:
        a, b = site.url("/a"), site.url("/b")
        units = [extracted(tmp_path, "one", [a, b]), extracted(tmp_path, "two", [a])]
        [manifest] = Stage(tmp_path, units, site_config(site, **one_bucket)).fetch()
        answers = pq.read_table(manifest.path(tmp_path / "fetch", "answers")).to_pylist()
        assert sorted((r["partition"], r["url"], r["status"]) for r in answers) == sorted(
            [("u-one", a, "ok"), ("u-one", b, "failed"), ("u-two", a, "ok")]
        )
        assert (site.asked("/a"), site.asked("/b")) == (1, 1)
        assert manifest.ledgers["urls"].to_json() == {"in": 2, "kept": 1, "dropped": {}, "failed": {"http_404": 1}}


def test_a_wider_request_asks_only_for_what_is_new(tmp_path: Path, one_bucket: dict[str, int]) -> None:
    with Site({"/a": answer(200, picture()), "/b": answer(200, picture())}) as site:
        first = [extracted(tmp_path, "one", [site.url("/a")])]
        config = site_config(site, **one_bucket)
        Stage(tmp_path, first, config).fetch()
        Stage(tmp_path, [*first, extracted(tmp_path, "two", [site.url("/b")])], config).fetch()
        assert (site.asked("/a"), site.asked("/b")) == (1, 1)


def test_failures_are_asked_again_only_where_named(tmp_path: Path, one_bucket: dict[str, int]) -> None:
    pages = {"/a": in_turn(answer(503), answer(200, picture())), "/b": answer(404), "/c": answer(200, picture())}
    with Site(pages) as site:
        units = [extracted(tmp_path, "one", [site.url(path) for path in pages])]
        stage = Stage(tmp_path, units, site_config(site, retries=0, **one_bucket))
        assert stage.fetch()[0].ledgers["urls"].failed == {"http_503": 1, "http_404": 1}
        assert stage.fetch()[0].ledgers["urls"].failed == {"http_503": 1, "http_404": 1}
        assert site.asked("/a") == 1
        [again] = stage.fetch(retry=("http_503",))
        assert again.ledgers["urls"].failed == {"http_404": 1}
        assert [site.asked(path) for path in pages] == [2, 1, 1]
        assert stage.fetch() == [again]


def test_manners_do_not_matter_to_a_result_and_limits_do() -> None:
    config = FetchingConfig()
    assert identity(config) == identity(config.model_copy(update={"threads": 1, "per_host": 9}))
    assert identity(config) != identity(config.model_copy(update={"max_bytes": 10}))
    assert identity(config) != identity(config.model_copy(update={"robots_txt": False}))


def rows(stage: Stage, manifests: list[Manifest]) -> dict[str, dict[str, object]]:
    found = [row for m in manifests for row in pq.read_table(m.path(stage.folder / "fetch", "data")).to_pylist()]
    return {str(row["url"]).rpartition("/")[2]: row for row in found}


def stored(stage: Stage, manifest: Manifest) -> list[FetchResult]:
    results = results_from_table(pq.read_table(manifest.path(stage.folder / "fetch", "data")))
    return [result for result in results if result.sha256 is not None]


def abuse(folder: Path, *contents: bytes) -> ImageSafetyConfig:
    path = folder / "list.txt"
    path.write_text("".join(sha256(content).hexdigest() + "\n" for content in contents))
    lists = [{"path": str(path), "kind": "sha256"}]
    of = {"known_abuse": {"lists": lists, "cache": str(folder / "cache")}, "report": {"file": str(folder / "r.jsonl")}}
    return ImageSafetyConfig.model_validate(of)


def test_lists_and_metadata_that_change_ask_nobody_and_leave_no_trace(
    tmp_path: Path, one_bucket: dict[str, int]
) -> None:
    bodies = {name: photos.saved("JPEG", photos.picture(n), exif=photos.exif()) for n, name in enumerate("abc")}
    with Site({f"/{name}": answer(body=body) for name, body in bodies.items()}) as site:
        units = [extracted(tmp_path, "1" * 16, [site.url(f"/{name}") for name in "ab"]),
                 extracted(tmp_path, "2" * 16, [site.url(f"/{name}") for name in "bc"])]  # fmt: skip
        stage = Stage(tmp_path, units, site_config(site, **one_bucket))
        [first] = stage.fetch()
        asked = len(site.log)
        stripping = ImageSafetyConfig(metadata="strip_location")
        [second] = stage.fetch(safety=stripping)
        assert second.notes["treated"] == {"metadata": "strip_location"}
        assert (first.notes["generation"], second.notes["generation"]) == (0, 1)
        images = RunImages(tmp_path / "images")
        assert drop_unnamed([tmp_path / "fetch"], images.folder) == sum(map(len, bodies.values()))
        [left] = [path.read_bytes() for path in (tmp_path / "images").glob("*/*.pack")]
        assert not any(secret in left for secret in photos.SECRETS)
        assert stage.fetch(safety=stripping) == [second]

        listed = next(images.read(result) for result in stored(stage, second) if result.url.endswith("/b"))
        safety = abuse(tmp_path, bodies["b"]).model_copy(update={"metadata": "strip_location"})
        [third] = stage.fetch(safety=safety)
        assert len(site.log) == asked
        found = rows(stage, [third])
        assert {name: row["status"] for name, row in found.items()} == {"a": "ok", "b": "dropped", "c": "ok"}
        assert third.ledgers["urls"].dropped == {"known_abuse": 1}
        assert found["b"]["sha256"] is None and found["b"]["phash"] is None
        [report] = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
        assert [d["doc_id"] for d in report["documents"]] == ["1" * 16, "2" * 16]
        assert report["documents"][0] == {
            "doc_id": "1" * 16, "url": "http://a.example/", "warc_filename": "w", "warc_record_offset": 0,
            "warc_record_length": 1,
        }  # fmt: skip
        assert drop_unnamed([tmp_path / "fetch"], images.folder) == len(listed)
        [left] = [path.read_bytes() for path in (tmp_path / "images").glob("*/*.pack")]
        assert listed not in left and len(images.lost(stored(stage, third))) == 0
        assert len(list((tmp_path / "fetch" / "manifests").iterdir())) == 1  # what earlier units knew of it is gone

        [fourth] = stage.fetch(safety=stripping)  # the list is taken away: what was on it is not asked for again
        assert len(site.log) == asked
        assert rows(stage, [fourth])["b"]["reason"] == "known_abuse"
        [fifth] = stage.fetch()  # location cannot be put back: that is asked for
        assert len(site.log) > asked and rows(stage, [fifth])["a"]["sha256"] == sha256(bodies["a"]).hexdigest()


def test_results_of_runs_before_there_was_such_a_column_are_read(tmp_path: Path) -> None:
    table = results_to_table([FetchResult("http://a/", "ok", sha256="ab")])
    assert results_from_table(table.drop_columns("received_sha256")) == [FetchResult("http://a/", "ok", sha256="ab")]
    older = table.drop_columns(["received_sha256", "pack", "offset"])
    assert results_from_table(older) == [FetchResult("http://a/", "ok", sha256="ab")]
    assert ANSWERS.names == ["partition", *table.drop_columns("received_sha256").column_names]


def test_a_unit_is_given_the_earlier_ones_of_its_bucket_and_lists_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"bucket-0001": ["bucket-0001-a"], "bucket-0010": ["bucket-0010-b"]}
    value = {"identity": "i", "asked": "a", "generation": 0, "bucket": 1}
    assert fetch_unit_of(value, names).payload["earlier"] == ["bucket-0001-a"]
    assert fetch_unit_of(value, names).id == fetch_unit_of(value, {}).id
    pq.write_table(REQUESTS.empty_table(), tmp_path / "none.parquet")
    monkeypatch.setattr(fetch_stage, "unit_names", None)  # whoever calls it now fails
    [planned] = fetch_units(Partitions(tmp_path, {"1": ["none.parquet"]}), tmp_path / "fetch", FetchingConfig(), names)
    unit = fetch_unit_of(planned, names)
    made = fetch_unit(
        unit, folder=tmp_path / "fetch", request_folder=tmp_path, images=tmp_path / "images", config=FetchingConfig()
    )
    assert made.unit == unit.name


def test_without_image_safety_units_are_named_as_ever() -> None:
    value = {"identity": "i", "asked": "a", "generation": 0, "bucket": 1}
    assert treated_as(ImageSafetyConfig(), "") == {}
    assert fetch_unit_of(value, {}).id == digest("i", "a", 0, "packs")
    assert fetch_unit_of({**value, "treated": {"metadata": "strip_location"}}, {}).id != digest("i", "a", 0)


def test_what_origins_said_is_not_lost_where_images_are_looked_at_again(
    tmp_path: Path, one_bucket: dict[str, int]
) -> None:
    body = photos.saved("JPEG", exif=photos.exif())
    with Site({"/a": answer(body=body), "/ai.txt": answer(body=b"User-agent: other\nDisallow: /\n")}) as site:
        units = [extracted(tmp_path, "1" * 16, [site.url("/a")])]
        stage = Stage(tmp_path, units, site_config(site, ai_txt=True, **one_bucket))
        [first] = stage.fetch()
        observations = pq.read_table(first.path(tmp_path / "fetch", "robots")).to_pylist()
        asked = len(site.log)
        [second] = stage.fetch(safety=ImageSafetyConfig(metadata="strip_location"))
        assert len(observations) == 1 and len(site.log) == asked
        assert pq.read_table(second.path(tmp_path / "fetch", "robots")).to_pylist() == observations


def test_what_is_measured_later_is_measured_of_what_is_stored(tmp_path: Path) -> None:
    with Site({"/a.png": answer(body=picture()), "/b.png": answer(404)}) as site:
        units = [extracted(tmp_path, "one", [site.url("/a.png"), site.url("/b.png")])]
        stage = Stage(tmp_path, units, site_config(site, buckets=1))
        tables: list[pa.Table] = []
        asked = 0
        for measures in ((), ("one_colour", "sharpness"), ("sharpness",), ()):
            (manifest,) = stage.fetch(measures=measures)
            data, answers = (pq.read_table(manifest.path(tmp_path / "fetch", role)) for role in ("data", "answers"))
            assert answers.column_names == [*ANSWERS.names, *measures]
            assert data.column_names[-len(measures) :] == [*measures] or not measures
            tables.append(data)
            asked = asked or len(site.log)
            assert len(site.log) == asked
    before, both, one, after = tables
    assert before.equals(after) and before.column_names == [*RESULT_SCHEMA.names, *PLACE_SCHEMA.names]
    measured = both["sharpness"].to_pylist()
    assert measured == one["sharpness"].to_pylist() and measured.count(None) == 1


def test_sources_are_in_the_id_of_a_unit_only_where_they_offer_something() -> None:
    requests = Partitions(Path(), {"0": ["0"], "1": ["1"]}, {"0": "a", "1": "b"})
    index = Partitions(Path(), {"1": ["i"]}, {"1": "c"})
    config = FetchingConfig(sources=("x",), source_images="any")
    assert identity(config) == identity(FetchingConfig())

    def ids(sources: Sources | None) -> list[str]:
        planned = fetch_units(requests, Path("none"), config, {}, sources=sources)
        return [fetch_unit_of(value, {}).id for value in planned]

    plain, same_size, original = ids(None), *(ids(Sources(index, {}, {}, of)) for of in ("same_size", "original"))
    assert plain[0] == same_size[0] == original[0]
    assert len({plain[1], same_size[1], original[1]}) == 3


def test_a_source_that_comes_later_gives_what_failed_and_one_that_goes_takes_its_images_along(
    tmp_path: Path, one_bucket: dict[str, int]
) -> None:
    pages = {"/a": answer(200, picture()), "/b": answer(404), "/c": answer(404)}
    with Site(pages) as site:
        urls = [site.url(path) for path in pages]
        stage = Stage(tmp_path, [extracted(tmp_path, "one", urls)], site_config(site, robots_txt=False, **one_bucket))
        plain = stage.fetch()[0]
        site.log.clear()
        folder = write("webdataset", tmp_path / "held", [image(url, picture(colour="blue")) for url in urls[:2]])
        (manifest,) = stage.fetch(sources=index(tmp_path, folder)[0])
        assert [request.path for request in site.log] == []
        assert stage.fetch(sources=index(tmp_path, folder)[0])[0].unit == manifest.unit
        found = {r.url: r for r in results_from_table(pq.read_table(manifest.path(tmp_path / "fetch", "data")))}
        assert [found[url].source is not None for url in urls] == [False, True, False]
        assert [found[url].reason for url in urls] == [None, None, "http_404"]
        assert manifest.notes["taken"] == {"kept": 1, "dropped": {}, "refused": {}}
        answers = pq.read_table(manifest.path(tmp_path / "fetch", "answers"))
        assert answers.column_names == ANSWERS.names
        other = write("files", tmp_path / "other", [image(urls[2], picture(colour="green"))])
        (after,) = stage.fetch(sources=index(tmp_path, other)[0])
        assert not site.log  # what it said before is known
    found = {r.url: r for r in results_from_table(pq.read_table(after.path(tmp_path / "fetch", "data")))}
    assert [(found[url].status, found[url].source is not None) for url in urls] == [
        *(("ok", False), ("failed", False), ("ok", True)),
    ]
    assert "taken" not in plain.notes
    assert "source" not in pq.read_schema(plain.path(tmp_path / "fetch", "data")).names
