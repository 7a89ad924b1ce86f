"""robots.txt as a crawl found it decides about the pages of the same crawl."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config import ReadingConfig, load_config
from obelics_pipeline.core.config.consent import SignalsConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.robots import RobotsCaptures, captures_of
from tests.policy.opt_outs.test_in_extraction import PAGES
from tests.stages.read.warcs import DATE, record

TEXT = (("Content-Type", "text/plain"),)


def capture(host: str, body: str, status: str = "200 OK", date: str = DATE, scheme: str = "https") -> bytes:
    made = record(body.encode(), f"{scheme}://{host}/robots.txt", status=status, headers=TEXT)
    return made.replace(DATE.encode(), date.encode())


CAPTURES = [
    capture("site0.example", "User-agent: *\nDisallow: /page"),
    capture("site1.example", "User-agent: GPTBot\nDisallow: /\n"),
    capture("site2.example", "User-agent: *\nDisallow:\n", date="2024-01-01T00:00:00Z"),
    capture("site2.example", "User-agent: *\nDisallow: /\n", date="2024-02-01T00:00:00Z"),
    capture("site3.example", "not found", status="404 Not Found"),
    capture("site4.example", "busy", status="503 Busy"),
    capture("site5.example", "User-agent: *\nDisallow: /", scheme="http"),
    record(b"# no robots.txt", "https://other.example/robots.html", headers=TEXT),
    capture("site6.example:8080", "User-agent: *\nDisallow: /"),
    capture("site7.example", "User-agent: *\nDisallow: /", date="2024-01-01T00:00:00Z"),
    capture("site7.example", "gone", status="410 Gone"),
    record(b"%PDF-1.4 sent instead", "https://site8.example/robots.txt", headers=(("Content-Type", "text/html"),)),
    capture("bad.example", "Disallow: " + "*a" * 100_000 + "\x00\x01"),
]


def captures(folder: Path, made: list[bytes] = CAPTURES, **more: object) -> RobotsCaptures:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "robots.warc").write_bytes(b"".join(made))
    config = SignalsConfig.model_validate({"robots_txt": [str(folder / "robots.warc")], **more})
    found = captures_of(config, ReadingConfig(), folder / "tables")
    assert found is not None
    return found


def test_a_table_in_which_a_bit_flipped_is_made_again(tmp_path: Path) -> None:
    found = captures(tmp_path)
    table = tmp_path / "tables" / f"{next((tmp_path / 'tables').glob('*.sqlite')).stem}.sqlite"
    data = bytearray(table.read_bytes())
    data[data.index(b"Disallow: /page") + 11] ^= 1  # another path is disallowed, and SQLite sees nothing
    table.write_bytes(data)
    again = captures(tmp_path)
    assert again.key == found.key
    assert again.answer_for("https://site0.example/page") == ("disallowed", "2024-05-06")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://site0.example/page", ("disallowed", "2024-05-06")),
        ("https://site0.example/other", ("allowed", "2024-05-06")),
        ("https://site1.example/page", ("allowed", "2024-05-06")),
        ("https://site2.example/page", ("disallowed", "2024-02-01")),
        ("https://site3.example/page", ("allowed", "2024-05-06")),
        ("https://site4.example/page", ("unknown", None)),
        ("https://site8.example/page", ("allowed", "2024-05-06")),
        ("https://site5.example/page", ("disallowed", "2024-05-06")),
        ("https://site6.example/page", ("unknown", None)),
        ("https://site6.example:8080/page", ("disallowed", "2024-05-06")),
        ("https://site7.example/page", ("allowed", "2024-05-06")),
        ("https://other.example/page", ("unknown", None)),
        ("https://bad.example/page", ("allowed", "2024-05-06")),
        ("no address", ("unknown", None)),
        ("https://[bad/", ("unknown", None)),
    ],
)
def test_the_newest_capture_of_a_page_s_host_counts(tmp_path: Path, url: str, said: tuple[str, str | None]) -> None:
    assert captures(tmp_path).answer_for(url) == said


def test_every_name_that_is_given_must_be_allowed(tmp_path: Path) -> None:
    found = captures(tmp_path, robots_tokens=["obelics-pipeline", "GPTBot"])
    assert found.answer_for("https://site1.example/page")[0] == "disallowed"


def test_the_order_of_captures_is_nothing(tmp_path: Path) -> None:
    assert captures(tmp_path / "a").key == captures(tmp_path / "b", CAPTURES[::-1]).key
    assert captures(tmp_path / "a").key != captures(tmp_path / "c", CAPTURES[1:]).key


def test_pages_are_dropped_and_what_was_said_is_recorded(tmp_path: Path) -> None:
    robots = captures(tmp_path)
    (tmp_path / "in.warc").write_bytes(b"".join(PAGES))
    sets = [
        "consent={}",
        "language.min_score=0",
        "consent.crawl.record=true",
        f"consent.crawl.robots_txt=[{tmp_path}/robots.warc]",
    ]
    config = load_config("default", [*sets, "consent.crawl.robots=drop"])
    tasks = plan_ranges(resolve_inputs([str(tmp_path / "in.warc")], config.reading), config.reading)
    unit = extract_units(tasks, config, robots=robots)[0]
    manifest = extract_unit(unit, folder=tmp_path / "out", config=config, robots=robots)
    assert manifest.ledgers["records"].dropped == {"robots_txt": 3}
    heard = {d.url: d.general["consent"] for d in read_documents(manifest.path(tmp_path / "out", "data"))}
    assert heard["https://site1.example/page"]["robots_txt"] == "allowed"
    assert heard["https://site1.example/page"]["robots_txt_captured"] == "2024-05-06"
    assert heard["https://site4.example/page"]["robots_txt"] == "unknown"
    assert unit.id != extract_units(tasks, config)[0].id


@pytest.mark.timeout(30)
def test_a_hostile_file_takes_no_time(tmp_path: Path) -> None:
    """A star is no regular expression: protego before 0.7 took hours for five of them."""
    robots = captures(tmp_path, [capture("evil.example", "User-agent: *\nDisallow: /" + "*a" * 200 + "*b$\n" * 1_000)])
    assert robots.answer_for("https://evil.example/" + "a" * 8_000)[0] == "allowed"


def test_to_drop_without_captures_is_refused() -> None:
    with pytest.raises(UserError, match=r"crawl\.robots: drop needs captures"):
        load_config("default", ["consent.crawl.robots=drop"])
