"""Fetching a KenLM model that others published on the Hugging Face hub: `obelics download`.

Nothing else in the package reaches the hub for a model: a config names a folder, and a person fills it by this command.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.kenlm import LANGUAGE
from obelics_pipeline.fit.say import Say
from obelics_pipeline.models.perplexity import ARPA, PIECES, PerplexityModel

NAME = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)/(?P<folder>[\w.-]+(/[\w.-]+)*)")
SCRATCH = ".download"  # in the output folder: what has come so far stays there after a failure, and is gone on with
_PIECE = 2**20  # bytes read at a time to sum a file


@dataclass(frozen=True)
class _Remote:
    """A file on the hub: where, of which commit, how large, and what it must sum to."""

    path: str
    commit: str
    size: int
    etag: str


def download_kenlm(
    name: str, languages: Sequence[str], output: Path, revision: str, say: Say, endpoint: str | None = None
) -> None:
    """Fetch `<language>.arpa.bin` and `<language>.sp.model` of a folder of a hub's repository, and check their sums.

    `name` is owner/repository/folder; `endpoint` the hub, None for the client's own (HF_ENDPOINT). Beside each pair a
    record says which commit it is of. Raises UserError, in one line, for a name of another form, a file that is missing
    or damaged, and a hub that cannot be reached.
    """
    hub, named = _load_hub(), NAME.fullmatch(name)
    if named is None:
        raise UserError(f"{name}: not owner/repository/folder, such as edugp/kenlm/wikipedia")
    for language in languages:
        if not LANGUAGE.fullmatch(language):
            raise UserError(f"--language {language}: not a language code, such as en or zh")
    repo, folder = named["repo"], named["folder"]
    files = [f"{language}{ending}" for language in languages for ending in (ARPA, PIECES)]
    try:
        found = {file: _look_up(hub, repo, f"{folder}/{file}", revision, endpoint) for file in files}
        total = sum(remote.size for remote in found.values())
        say(f"{len(files)} files of {repo}, commit {found[files[0]].commit}: {total:,} bytes to {output}")
        for language in languages:
            of_language = {file: found[file] for file in files if file.startswith(f"{language}.")}
            _fetch(hub, repo, of_language, output, endpoint)
            say(f"wrote {output / language}{ARPA}, {language}{PIECES} and {language}.json: their sums are the hub's")
    except UserError:
        raise
    except Exception as error:  # whatever the client and its HTTP library raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UserError(f"{name}: cannot be fetched ({reason}); run the same command again to continue") from None
    shutil.rmtree(output / SCRATCH, ignore_errors=True)


def _look_up(hub: Any, repo: str, path: str, revision: str, endpoint: str | None) -> _Remote:
    url = hub.hf_hub_url(repo, path, revision=revision, endpoint=endpoint)
    found = hub.get_hf_file_metadata(url, endpoint=endpoint)
    if not (found.commit_hash and found.etag and found.size is not None):
        raise UserError(f"{repo}/{path}: the hub gives no commit, checksum or size of it")
    return _Remote(path, found.commit_hash, found.size, found.etag)


def _fetch(hub: Any, repo: str, files: dict[str, _Remote], output: Path, endpoint: str | None) -> None:
    """The files of one language: all are fetched and checked before the first takes its place."""
    drafts: dict[str, Path] = {}
    told: dict[str, Any] = {}
    for file, remote in files.items():
        got = hub.hf_hub_download(
            repo, remote.path, revision=remote.commit, local_dir=output / SCRATCH, endpoint=endpoint
        )
        drafts[file] = Path(got)
        sha256 = _check(drafts[file], remote)
        told[file] = {"path": remote.path, "commit": remote.commit, "bytes": remote.size, "sha256": sha256}
    arpa = next(draft for file, draft in drafts.items() if file.endswith(ARPA))
    PerplexityModel.load(arpa)  # what cannot be scored with is not handed over
    for file, draft in drafts.items():
        os.replace(draft, output / file)
    record = {"repository": repo, "client": f"huggingface_hub {version('huggingface_hub')}", "files": told}
    written = output / arpa.name.replace(ARPA, ".json")
    written.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _check(file: Path, remote: _Remote) -> str:
    """The sha256 of a file whose sum is the hub's: of large files that is a sha256, of small ones git's of a blob."""
    size = file.stat().st_size
    sha256, blob = hashlib.sha256(), hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            sha256.update(piece)
            blob.update(piece)
    if remote.etag not in (sha256.hexdigest(), blob.hexdigest()):
        file.unlink()
        raise UserError(f"{remote.path}: came damaged (sha256 {sha256.hexdigest()}, the hub says {remote.etag})")
    return sha256.hexdigest()


def _load_hub() -> Any:
    try:
        return import_module("huggingface_hub")
    except ImportError:
        raise UserError("no module huggingface_hub; pip install 'obelics-pipeline[models]'") from None
