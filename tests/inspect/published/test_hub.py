"""`obelics publish --output hf://…`: what the hub has is sent once, whoever stops; what it says is told in one line."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.shards.manifest import Promises, RunManifest
from obelics_pipeline.core.shards.run_index import PartBounds
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.published import hub as on_the_hub
from obelics_pipeline.inspect.published.command import publish
from obelics_pipeline.inspect.published.hub import PartSender, Repository
from obelics_pipeline.inspect.published.parquet_part import PartMaker, WrittenPart
from obelics_pipeline.inspect.published.parts import Part, part_name
from obelics_pipeline.inspect.published.target import list_of
from tests.inspect.published.hub_server import HubServer, serve

NAME, SIZE = "org/pages", 200_000  # bytes of a file; the stand-in takes them in two requests
PARTS = [Part(part_name(i, 5), i, i + 1) for i in range(5)]
REPOSITORY = Repository(NAME, "main")


class Maker(PartMaker):
    """Makes files of bytes that only their documents decide."""

    def make(self, part: Part, path: Path) -> WrittenPart:
        data = content(self.made_of, part)
        path.write_bytes(data)
        return WrittenPart(
            part.name, hashlib.sha256(data).hexdigest(), len(data), part.stop - part.start, self.of(part)
        )


def maker(made_of: str) -> Maker:
    """A maker that asks no run."""
    nothing = RunManifest((), (), Promises(0, 0, False, False, ()), {}, {})
    return Maker(Path("run"), PartBounds.of(nothing), [], made_of)


def content(made_of: str, part: Part) -> bytes:
    return hashlib.shake_128(f"{made_of}{part.start}".encode()).digest(SIZE)


class Inline:
    """As far as `write_parts` asks an engine."""

    def map(self, function: Callable[[Any], Any], items: Any) -> Iterator[Any]:
        return map(function, items)


CARD = b"---\nconfigs:\n- config_name: default\n  data_files:\n  - {split: train, path: data/train-*.parquet}\n---\n"


def go(made_of: str = "x", parts: list[Part] = PARTS, repository: Repository = REPOSITORY) -> None:
    """All that `publish` has a repository do."""
    repository.refuse_strangers(Path("run"))
    made = repository.write_parts(Inline(), maker(made_of), parts)  # type: ignore[arg-type]
    repository.finish(made, {"README.md": CARD, "published.json": list_of(made)})


def names(hub: HubServer) -> list[str]:
    return sorted(name.rpartition("/")[2] for name in hub.files() if name.startswith("data/"))


def sent_twice(hub: HubServer) -> int:
    """Bytes of large files that arrived beyond their size."""
    return sum(count - len(hub.contents.get(sha256, b"")) for sha256, count in hub.sent.items())


def environment_of(hub: HubServer, scratch: Path) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_ENDPOINT": hub.address, "HF_TOKEN": hub.token, "HF_HUB_DISABLE_XET": "1"}
    return environment | {"HF_HOME": str(scratch / "hf")}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub that the library asks in this process. Xet, which has servers of its own, is off: LFS does its work."""
    from huggingface_hub import constants

    monkeypatch.setattr(on_the_hub, "FILES_PER_COMMIT", 2)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    with serve(HubServer(NAME)) as served:
        address_of(monkeypatch, served.address)
        yield served


def address_of(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """As HF_ENDPOINT does, which the library reads once."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    )


def test_all_files_are_there_after_few_commits_and_each_was_sent_once(hub: HubServer) -> None:
    go()
    files = hub.files()
    assert [files.pop(f"data/{part.name}") for part in PARTS] == [content("x", part) for part in PARTS]
    assert sorted(files) == ["README.md", "published.json"]
    assert hub.commits == ["Add files"] * 3 + ["Publish 5 documents"]
    assert sent_twice(hub) == 0


def test_a_second_command_sends_nothing(hub: HubServer) -> None:
    go()
    before, files = dict(hub.sent), hub.files()
    go()
    assert (dict(hub.sent), hub.files()) == (before, files)
    assert hub.commits[4:] in ([], ["Publish 5 documents"])  # of what lies beside; the stand-in does not compare it


def test_a_hub_without_room_stops_the_command_and_the_next_sends_what_is_missing(hub: HubServer) -> None:
    hub.full_after = 3 * SIZE + 50_000
    with pytest.raises(Stopped, match="run the same command again to continue"):
        go()
    assert names(hub) == [part.name for part in PARTS[:2]]  # the third is stored there, and in no commit yet
    assert "published.json" not in hub.files()
    whole, under_way = set(hub.contents), {s: n for s, n in hub.sent.items() if s not in hub.contents}
    hub.full_after = None
    go()
    assert names(hub) == [part.name for part in PARTS]
    assert all(hub.sent[sha256] == SIZE for sha256 in whole & set(hub.sent))  # not a byte of what it had
    assert sent_twice(hub) == sum(under_way.values()) <= SIZE


KILLED = """
import sys
from pathlib import Path
from obelics_pipeline.inspect.published import hub
from tests.inspect.published.test_hub import go
hub.FILES_PER_COMMIT = 2
go()
"""


def test_a_command_that_was_killed_goes_on(hub: HubServer, tmp_path: Path) -> None:
    hub.hold_after = 3 * SIZE + 50_000
    process = subprocess.Popen([sys.executable, "-c", KILLED], env=environment_of(hub, tmp_path))
    assert hub.held.wait(300), process.poll()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    hub.hold_after = None
    hub.go_on.set()
    assert "published.json" not in hub.files()
    whole = set(hub.contents)
    go()
    assert names(hub) == [part.name for part in PARTS]
    assert all(hub.sent[sha256] == SIZE for sha256 in whole & set(hub.sent))
    assert sent_twice(hub) <= SIZE


def test_a_revision_sends_what_changed_and_takes_its_list_back_first(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    go()
    fewer = [Part(part_name(i, 4), i, i + 1) for i in range(4)]
    monkeypatch.setattr(Repository, "finish", lambda *_: None)
    go(parts=fewer)
    assert "published.json" not in hub.files()
    assert sent_twice(hub) == 0  # other names, the same contents
    monkeypatch.undo()


def test_files_of_an_earlier_publication_go_with_it(hub: HubServer) -> None:
    go()
    go("y", PARTS[:1])
    assert hub.files()["data/" + PARTS[0].name] == content("y", PARTS[0])
    assert names(hub) == [PARTS[0].name]


def test_another_branch_is_written_and_main_stays(hub: HubServer) -> None:
    hub.branches["next"] = {}
    go(repository=Repository.of("hf://datasets/org/pages@next"))
    assert "published.json" in hub.files("next")
    assert hub.files("main") == {}


@pytest.mark.parametrize("name", ["README.md", "data/other.parquet"])
def test_files_of_others_are_refused(hub: HubServer, name: str) -> None:
    hub.contents["0" * 64], hub.branches["main"] = b"mine", {name: "0" * 64}
    with pytest.raises(UserError, match=f"holds {name}, which publish did not write; give an empty repository"):
        go()
    assert hub.files() == {name: b"mine"}


def test_a_commit_of_another_in_between_stops_the_command(hub: HubServer) -> None:
    made = maker("x")

    class Between(Inline):
        def map(self, function: Callable[[Any], Any], items: Any) -> Iterator[Any]:
            hub.commits.append("of another")
            return map(function, items)

    with pytest.raises(Stopped, match=r"changed by another meanwhile .412: .*run the same command again"):
        REPOSITORY.write_parts(Between(), made, PARTS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "url", "token", "kind", "said"),
    [
        ({}, "hf://datasets/org/pages", "", UserError, "not logged in; run hf auth login, or set HF_TOKEN"),
        ({}, "hf://datasets/org/pages", "hf_other", UserError, "the token"),
        ({}, "hf://datasets/org/none", "hf_test", UserError, "make it: hf repos create org/none --repo-type dataset"),
        ({}, "hf://datasets/org/pages@v2", "hf_test", UserError, "hf repos branch create org/pages v2 --repo-type"),
        ({"read_only": True}, "hf://datasets/org/pages", "hf_test", UserError, r"refuses the token \(403: "),
        ({"regular": True}, "hf://datasets/org/pages", "hf_test", UserError, r"add \*.parquet to .gitattributes"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    hub: HubServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Mapping[str, bool],
    url: str,
    token: str,
    kind: type[Exception],
    said: str,
) -> None:
    from huggingface_hub import constants

    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))  # a person's own counts as well
    for name, value in change.items():
        setattr(hub, name, value)
    with pytest.raises(kind, match=said) as raised:
        go(repository=Repository.of(url))
    assert "\n" not in str(raised.value)
    assert hub.files() == {}


def test_a_hub_that_cannot_be_reached_stops_the_command(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    address_of(monkeypatch, "http://127.0.0.1:9")
    with pytest.raises(Stopped, match=r"the hub cannot be reached .*; run the same command again to continue"):
        go()


def test_what_was_made_is_gone_from_the_disk(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    PartSender(maker("x"), REPOSITORY)(PARTS[0])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["hf://datasets/org", "hf://org/pages", "hf://datasets/org/pages/data", "hf://x@"])
def test_what_is_no_data_set_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="must be hf://datasets/OWNER/NAME, or the same with @BRANCH"):
        Repository.of(url)


@pytest.mark.slow
def test_the_command_writes_there_what_it_writes_into_a_folder(
    run_of_demo: Path, hub: HubServer, tmp_path: Path
) -> None:
    said = ["--name", "Pages of a test", "--licence", "cc-by-4.0", "--workers", "1"]
    line = [sys.executable, "-m", "obelics_pipeline", "publish", str(run_of_demo)]
    line += ["--output", "hf://datasets/org/pages", *said]
    done = subprocess.run(line, env=environment_of(hub, tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "to hf://datasets/org/pages" in done.stdout
    folder = tmp_path / "corpus"
    publish(str(run_of_demo), str(folder), Statement("Pages of a test", "cc-by-4.0"), workers=1)
    assert hub.files() == {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
