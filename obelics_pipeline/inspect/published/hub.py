"""A publication in a data set's repository of the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import TEMPORARY, Location
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.inspect.card.command import CARD
from obelics_pipeline.inspect.published.parquet_part import PartMaker, WrittenPart
from obelics_pipeline.inspect.published.parts import Part
from obelics_pipeline.inspect.published.target import (
    DATA,
    LIST,
    NOTES,
    demand_viewable,
    list_of,
    listed,
    refuse,
    strangers,
)
from obelics_pipeline.inspect.published.viewer import sizes, unnamed

HUB = "hf://"
UNFINISHED = f"{NOTES}/parts.json"  # in the repository: the files that are committed, as LIST
# The hub advises below 100 files in a commit (huggingface.co/docs/hub/storage-limits). A command that goes on makes
# at most so many files again, and sends none of them.
FILES_PER_COMMIT = 50

_URL = re.compile(r"hf://datasets/(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^@]+))?")
_AGAIN = "run the same command again to continue"


@dataclass(frozen=True)
class Repository:
    """A `Target` on the hub: `name` with its owner, and `revision`, a branch."""

    name: str
    revision: str

    @classmethod
    def of(cls, url: str) -> Repository:
        """Read hf://datasets/OWNER/NAME or hf://datasets/OWNER/NAME@BRANCH. Raises UserError for anything else."""
        found = _URL.fullmatch(url.rstrip("/"))
        if found is None:
            raise UserError(f"--output {url}: must be hf://datasets/OWNER/NAME, or the same with @BRANCH")
        return cls(found["name"], found["revision"] or "main")

    def __str__(self) -> str:
        return f"{HUB}datasets/{self.name}" + (f"@{self.revision}" if self.revision != "main" else "")

    def refuse_strangers(self, run: Location) -> None:
        """Raise UserError where there is no token, no such repository or branch, or one with files of others.

        Raises Stopped where the hub cannot be reached.
        """
        with self.asked() as api:
            names = list(self._there(api)[1])
        data = [name.removeprefix(f"{DATA}/") for name in names if name.startswith(f"{DATA}/")]
        refuse(str(self), strangers(data, names), "give an empty repository, or another branch")

    def write_parts(self, engine: Engine, maker: PartMaker, parts: Sequence[Part]) -> list[WrittenPart]:
        """Have the workers make and send the files that are not there, and commit them as they come."""
        from huggingface_hub import CommitOperationDelete

        with self.asked() as api:
            head, there = self._there(api)
            done = {part.name: part for part in self._committed(api, there)}
        missing = [part for part in parts if part.name not in done or done[part.name].made_of != maker.of(part)]
        waiting: list[Any] = [CommitOperationDelete(LIST)] if LIST in there and missing else []
        for number, (written, operation) in enumerate(engine.map(PartSender(maker, self), missing), 1):
            done[written.name] = written
            waiting.append(operation)
            if len(waiting) >= FILES_PER_COMMIT or number == len(missing):
                mine = [done[part.name] for part in parts if part.name in done]
                head = self._commit([*waiting, _added(UNFINISHED, list_of(mine))], head, "Add files")
                waiting = []
        return [done[part.name] for part in parts]

    def finish(self, parts: Sequence[WrittenPart], beside: Mapping[str, bytes]) -> Sequence[str]:
        """One commit: what lies beside the files and their list, without what is no part of this publication.

        The files themselves were checked before they were sent.
        """
        from huggingface_hub import CommitOperationDelete

        data = {f"{DATA}/{part.name}": part.bytes for part in parts}
        demand_viewable(str(self), list(unnamed(beside[CARD].decode(), data)))
        with self.asked() as api:
            head, there = self._there(api)
        mine = {*data, *beside}
        old = [name for name in there if name.startswith((f"{DATA}/", f"{NOTES}/")) and name not in mine]
        added = [_added(name, data) for name, data in beside.items()]
        deleted = [CommitOperationDelete(name) for name in sorted(old)]
        self._commit([*added, *deleted], head, f"Publish {sum(part.rows for part in parts):,} documents")
        return [*(line for part in parts for line in part.advice), *sizes(data)]

    @contextmanager
    def asked(self) -> Iterator[Any]:
        """The library's client, which takes its token and the hub's address as users set them for every program.

        What the hub or the network says against it is raised as UserError or Stopped, in one line.
        """
        try:
            from huggingface_hub import HfApi, get_token
            from huggingface_hub.utils import disable_progress_bars
        except ImportError:
            raise UserError("no module huggingface_hub; pip install 'obelics-pipeline[hub]'") from None
        if get_token() is None:
            raise UserError(f"{self}: not logged in; run hf auth login, or set HF_TOKEN to a token that may write")
        disable_progress_bars()
        try:
            yield HfApi(library_name="obelics-pipeline")
        except Exception as error:
            answer = self._answer_to(error)
            if answer is None:
                raise
            raise answer from None

    def _there(self, api: Any) -> tuple[str | None, dict[str, str | None]]:
        """The newest commit, and its files by name, large ones with their sha256."""
        head = api.repo_info(self.name, repo_type="dataset", revision=self.revision).sha
        tree = api.list_repo_tree(self.name, repo_type="dataset", revision=self.revision, recursive=True)
        files = [entry for entry in tree if hasattr(entry, "blob_id")]
        return head, {file.path: file.lfs.sha256 if file.lfs else None for file in files}

    def _committed(self, api: Any, there: Mapping[str, str | None]) -> Iterator[WrittenPart]:
        """The files of an earlier publication, or of one that was stopped, that are there as they are listed."""
        for name in (LIST, UNFINISHED):
            if name in there:
                with TemporaryDirectory(prefix=TEMPORARY) as scratch:
                    path = api.hf_hub_download(
                        self.name, name, repo_type="dataset", revision=self.revision, local_dir=scratch
                    )
                    parts = listed(Path(path).read_bytes())
                yield from (part for part in parts if there.get(f"{DATA}/{part.name}") == part.sha256)

    def _commit(self, operations: Sequence[Any], head: str | None, message: str) -> str:
        """The new commit. The hub refuses it where another was made after `head`."""
        with self.asked() as api:
            made = api.create_commit(
                self.name,
                operations,
                commit_message=message,
                repo_type="dataset",
                revision=self.revision,
                parent_commit=head,
            )
            return str(made.oid)

    def _answer_to(self, error: Exception) -> UserError | Stopped | None:
        """What a person can do about an error of the library; None for one that is not the hub's or the network's."""
        from huggingface_hub import errors

        wrapped = isinstance(error, RuntimeError | errors.LocalEntryNotFoundError)  # by the library
        cause = error.__cause__ if wrapped and error.__cause__ is not None else error
        if isinstance(cause, errors.RevisionNotFoundError):
            make = f"hf repos branch create {self.name} {self.revision} --repo-type dataset"
            return UserError(f"{self}: no branch {self.revision} there; make it: {make}")
        if isinstance(cause, errors.RepositoryNotFoundError):
            make = f"hf repos create {self.name} --repo-type dataset"
            return UserError(f"{self}: no such data set, or the token may not see it; make it: {make}")
        if isinstance(cause, errors.HfHubHTTPError):
            return self._refused(cause)
        if any(kind.__module__.partition(".")[0] in ("httpx2", "httpx") for kind in type(cause).__mro__):
            return Stopped(f"{self}: the hub cannot be reached ({type(cause).__name__}: {_line(cause)}); {_AGAIN}")
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return UserError(f"{self}: HF_HUB_OFFLINE forbids to ask the hub; unset it")
        if isinstance(cause, ValueError) and not isinstance(cause, UnicodeError):
            return UserError(f"{self}: refused ({_line(cause)})")
        return None

    def _refused(self, error: Any) -> UserError | Stopped:
        status = getattr(error.response, "status_code", 0)
        said = f"{status}: {_line(error.server_message or error)}"
        if status in (401, 403):
            advice = "give one that may write, by hf auth login or HF_TOKEN"
            return UserError(f"{self}: the hub refuses the token ({said}); {advice}")
        if status in (409, 412):
            return Stopped(f"{self}: changed by another meanwhile ({said}); {_AGAIN}")
        if status == 429 or status >= 500:
            return Stopped(f"{self}: the hub does not do it now ({said}); {_AGAIN}")
        return UserError(f"{self}: refused ({said})")


@dataclass(frozen=True)
class PartSender:
    """Makes files and sends them, each without a commit. The hub says by its hash whether it has one already."""

    maker: PartMaker
    repository: Repository

    def __call__(self, part: Part) -> tuple[WrittenPart, Any]:
        """The file and the operation of the library that commits it. Raises UserError, Stopped."""
        from huggingface_hub import CommitOperationAdd

        name, revision = self.repository.name, self.repository.revision
        with TemporaryDirectory(prefix=TEMPORARY) as scratch:
            path = Path(scratch) / part.name
            written = self.maker.make(part, path)
            with self.repository.asked() as api:
                operation = CommitOperationAdd(f"{DATA}/{part.name}", path)
                operation.upload_info.sha256 = bytes.fromhex(written.sha256)
                api.preupload_lfs_files(name, [operation], repo_type="dataset", revision=revision)
            if operation.path_or_fileobj != b"":  # what was sent, the library lets go
                where = f"{self.repository}: {operation.path_in_repo}"
                raise UserError(f"{where} is no large file there; add *.parquet to .gitattributes, as new data sets do")
            return written, operation


def _added(name: str, data: bytes) -> Any:
    from huggingface_hub import CommitOperationAdd

    return CommitOperationAdd(name, data)


def _line(said: object) -> str:
    return " ".join(str(said).split())[:200]
