"""Lists are made ready once, checked, and matched; a match is reported at least once, and once in the file."""

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.core.config.image_safety import AbuseReportConfig, ImageSafetyConfig, KnownAbuseConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.image_safety import known_abuse as module
from obelics_pipeline.policy.image_safety.known_abuse import KnownAbuse, known_abuse, located, prepare
from obelics_pipeline.policy.image_safety.pdq import Pdq
from obelics_pipeline.policy.image_safety.report import Reporter, check_report
from tests.policy.image_safety import hooks

PLACE = "tests.policy.image_safety.hooks:remember"


def config(folder: Path, *lists: dict[str, Any], **more: Any) -> KnownAbuseConfig:
    return KnownAbuseConfig.model_validate({"lists": lists, "cache": str(folder / "cache"), **more})


def ready(of: KnownAbuseConfig) -> KnownAbuse:
    prepared = prepare(of)
    assert prepared is not None
    return known_abuse(of, prepared.identity)


def listed(path: Path, *hashes: str) -> dict[str, Any]:
    path.write_text("\n".join(hashes) + "\n")
    return {"path": str(path)}


@pytest.fixture
def one(tmp_path: Path) -> KnownAbuseConfig:
    first = listed(tmp_path / "one.txt", hashlib.sha256(b"bad").hexdigest())
    second = listed(tmp_path / "two.txt", hashlib.md5(b"worse").hexdigest(), "not a hash")
    return config(tmp_path, {**first, "kind": "sha256"}, second)


def test_bytes_that_are_listed_match_and_others_do_not(one: KnownAbuseConfig) -> None:
    abuse = ready(one)
    bad, worse = abuse.exact(b"bad"), abuse.exact(b"worse")
    assert bad is not None and (bad.kind, bad.list_name) == ("sha256", "one.txt")
    assert worse is not None and (worse.kind, worse.list_name) == ("md5", "two.txt")
    assert abuse.exact(b"bad ") is None
    assert abuse.of_sha256(hashlib.sha256(b"bad").digest()) is not None
    assert abuse.of_sha256(hashlib.sha256(b"worse").digest()) is None
    assert not abuse.compares_pictures


def test_lists_are_made_ready_once_where_only_their_owner_reads_them(one: KnownAbuseConfig, tmp_path: Path) -> None:
    first, second = prepare(one), prepare(one)
    assert first is not None and second is not None
    assert [(c.hashes, c.bad) for c in first.counts] == [(1, 0), (1, 1)]
    assert not second.counts
    [folder] = (tmp_path / "cache").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_is_in_a_list_counts_and_not_its_path(one: KnownAbuseConfig, tmp_path: Path) -> None:
    before = prepare(one)
    moved = [
        of.model_copy(update={"path": str(Path(of.path).rename(tmp_path / f"moved-{i}.txt"))})
        for i, of in enumerate(one.lists)
    ]
    other = one.model_copy(update={"lists": tuple(moved[::-1]), "cache": str(tmp_path / "elsewhere")})
    after = prepare(other)
    assert before is not None and after is not None and before.identity == after.identity
    Path(moved[0].path).write_text(hashlib.sha256(b"other").hexdigest())
    changed = prepare(other)
    assert changed is not None and changed.identity != after.identity
    with pytest.raises(UserError, match="not those the run began with"):
        known_abuse(other.model_copy(update={"distance": 31}), after.identity)
    assert prepare(KnownAbuseConfig()) is None


@pytest.mark.parametrize(
    ("line", "more", "told"),
    [
        ("ff" * 32, {}, "may be sha256 or PDQ; set kind"),
        ("ff" * 32, {"kind": "pdq", "sha256": "0" * 64}, "is damaged or another file"),
        ("nothing", {}, "none of its 1 lines has a hash"),
    ],
)
def test_a_list_that_would_match_nothing_is_refused(line: str, more: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        prepare(config(tmp_path, {**listed(tmp_path / "l.txt", line), **more}))
    with pytest.raises(UserError, match="cannot be read"):
        prepare(config(tmp_path, {"path": str(tmp_path / "none.txt")}))


def test_pictures_match_within_the_distance_and_only_where_there_is_something_to_see(tmp_path: Path) -> None:
    value = np.random.default_rng(0).integers(0, 256, 32, dtype=np.uint8)
    near = np.unpackbits(value)
    near[:31] ^= 1
    far = near.copy()
    far[31] ^= 1
    of = config(tmp_path, {**listed(tmp_path / "p.txt", value.tobytes().hex()), "kind": "pdq"})
    pytest.importorskip("pdqhash")
    abuse = ready(of)
    found = abuse.near([Pdq(np.packbits(near).tobytes(), 50)])
    assert found is not None and (found.distance, found.quality, found.listed) == (31, 50, value.tobytes())
    assert abuse.near([Pdq(np.packbits(far).tobytes(), 100)]) is None
    assert abuse.near([Pdq(value.tobytes(), 49)]) is None
    best = abuse.near([Pdq(np.packbits(near).tobytes(), 50), Pdq(value.tobytes(), 60)])
    assert best is not None and best.distance == 0


def test_a_missing_package_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise UserError("pdqhash is not installed")

    monkeypatch.setattr(module, "require_pdq", missing)
    with pytest.raises(UserError, match="pdqhash"):
        prepare(config(tmp_path, {**listed(tmp_path / "p.txt", "ab" * 32), "kind": "pdq"}))


EVENT = {"url": "http://a/\udcff", "sha256": "ab", "listed": "cd", "distance": 0}


def test_a_match_is_in_the_file_once_and_nobody_else_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_bytes(b'{"id": "torn')
    os.chmod(path, 0o644)
    hooks.told.clear()
    report = Reporter(AbuseReportConfig(file=str(path), hook=PLACE))
    report(EVENT)
    Reporter(AbuseReportConfig(file=str(path), hook=PLACE))(EVENT)
    report({**EVENT, "url": "http://b/"})
    torn, *lines = path.read_text().splitlines()
    assert torn == '{"id": "torn'
    told = [json.loads(line) for line in lines]
    assert [t["url"] for t in told] == ["http://a/\udcff", "http://b/"]
    assert [t["url"] for t in hooks.told] == ["http://a/\udcff", "http://b/"]
    assert {"id", "time", "distance"} <= set(told[0])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_cannot_be_reported_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.jsonl"
    monkeypatch.setitem(hooks.BROKEN, "now", True)
    with pytest.raises(UserError, match=r"could not be reported \(ConnectionError\)"):
        Reporter(AbuseReportConfig(file=str(path), hook=PLACE))(EVENT)
    assert not path.exists()
    monkeypatch.setitem(hooks.BROKEN, "now", False)
    with pytest.raises(UserError, match="cannot be written to"):
        Reporter(AbuseReportConfig(file=str(tmp_path)))(EVENT)


@pytest.mark.parametrize(
    "hook", ["tests.policy.image_safety.hooks:none", "no.such.module:f", "tests.policy.image_safety.hooks:told"]
)
def test_a_hook_that_is_none_is_told_before_the_run(hook: str) -> None:
    with pytest.raises(UserError, match=r"image_safety\.report\.hook"):
        check_report(AbuseReportConfig(hook=hook), Path())


def test_a_report_within_the_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="in the run's folder"):
        check_report(AbuseReportConfig(file=str(tmp_path / "run" / "x" / ".." / "r.jsonl")), tmp_path / "run")
    with pytest.raises(UserError, match="cannot be written"):
        check_report(AbuseReportConfig(file=str(tmp_path / "none" / "r.jsonl")), tmp_path / "run")
    check_report(AbuseReportConfig(file=str(tmp_path / "r.jsonl")), tmp_path / "run")


def test_paths_are_full_for_workers_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = {"known_abuse": {"lists": [{"path": "l.txt"}], "cache": "c"}, "report": {"file": "r.jsonl"}}
    found = located(ImageSafetyConfig.model_validate(values))
    assert found.known_abuse.lists[0].path == str(tmp_path / "l.txt")
    assert (found.known_abuse.cache, found.report.file) == (str(tmp_path / "c"), str(tmp_path / "r.jsonl"))
    assert located(ImageSafetyConfig()) == ImageSafetyConfig()
