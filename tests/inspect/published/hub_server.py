"""A hub on loopback that takes commits: as far as `publish` has the library ask, in the form of the hub's HTTP API.

Contents are stored by their sha256 before a commit names them. It counts the bytes that it is sent of each.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

PIECE = 65536


@dataclass
class HubServer:
    """`branches` hold, by path, the sha256 of what is there. `part_bytes` splits large contents, as the hub does."""

    repo: str = "org/pages"
    token: str = "hf_test"
    part_bytes: int = 150_000
    branches: dict[str, dict[str, str]] = field(default_factory=lambda: {"main": {}})
    large: set[str] = field(default_factory=set)  # paths that were committed as pointers
    contents: dict[str, bytes] = field(default_factory=dict)  # by sha256
    commits: list[str] = field(default_factory=list)  # messages
    sent: Counter[str] = field(default_factory=Counter)  # bytes of large contents that arrived, by sha256
    full_after: int | None = None  # bytes; from then on the storage has no room, in the middle of a file
    hold_after: int | None = None  # bytes; from then on nothing is answered until `go_on`
    held: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    read_only: bool = False
    regular: bool = False  # no file is a large one
    address: str = ""
    parts: dict[tuple[str, int], bytes] = field(default_factory=dict)

    def files(self, branch: str = "main") -> dict[str, bytes]:
        """What is committed."""
        return {path: self.contents[sha256] for path, sha256 in self.branches[branch].items()}

    def head(self, branch: str) -> str:
        state = json.dumps([len(self.commits), sorted(self.branches[branch].items())])
        return hashlib.sha1(state.encode()).hexdigest()


@contextmanager
def serve(hub: HubServer) -> Iterator[HubServer]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._do()

        def do_GET(self) -> None:
            self._do()

        def do_POST(self) -> None:
            self._do()

        def do_PUT(self) -> None:
            _, _, sha256, number = self.path.split("/")
            left, got = int(self.headers["Content-Length"]), bytearray()
            while left:
                piece = self.rfile.read(min(PIECE, left))
                if not piece:
                    return
                got += piece
                left -= len(piece)
                hub.sent[sha256] += len(piece)
                if hub.hold_after is not None and sum(hub.sent.values()) >= hub.hold_after:
                    hub.held.set()
                    hub.go_on.wait(60)
                if hub.full_after is not None and sum(hub.sent.values()) >= hub.full_after:
                    self.close_connection = True
                    return self._json(507, {"error": "no room"})
            hub.parts[sha256, int(number)] = bytes(got)
            return self._json(200, {}, ETag=f'"{number}"')

        def _do(self) -> None:
            path = unquote(urlsplit(self.path).path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if path == "/api/validate-yaml":
                return self._json(200, {"errors": [], "warnings": []})
            if path.startswith("/complete/"):
                return self._complete(path.split("/")[2], json.loads(body))
            found = re.fullmatch(r"(?:/api)?/datasets/([^/]+/[^/.]+)(?:\.git/info/lfs/objects/(batch)|/(.*))", path)
            if found is None or found[1] != hub.repo:
                return self._json(404, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")
            if self.headers.get("Authorization") != f"Bearer {hub.token}":
                return self._json(401, {"error": "Invalid username or password."})
            if found[2]:
                return self._batch(json.loads(body))
            verb, _, rest = found[3].partition("/")
            branch, _, name = rest.partition("/")
            if branch not in hub.branches:
                return self._json(404, {"error": f"Invalid rev id: {branch}"}, X_Error_Code="RevisionNotFound")
            if hub.read_only and verb in ("preupload", "commit"):
                return self._json(403, {"error": "Forbidden: you must use a write token"})
            answers = {
                "revision": lambda: self._json(200, {"id": hub.repo, "sha": hub.head(branch), "siblings": []}),
                "tree": lambda: self._json(200, [self._entry(*item) for item in sorted(hub.branches[branch].items())]),
                "preupload": lambda: self._json(200, {"files": self._modes(json.loads(body)["files"], branch)}),
                "commit": lambda: self._commit(branch, [json.loads(line) for line in body.splitlines()]),
                "resolve": lambda: self._resolve(branch, name),
            }
            return answers[verb]()

        def _entry(self, path: str, sha256: str) -> dict[str, object]:
            size = len(hub.contents[sha256])
            entry: dict[str, object] = {"type": "file", "path": path, "size": size, "oid": sha256[:40]}
            if path in hub.large:
                entry["lfs"] = {"oid": sha256, "size": size, "pointerSize": 134}
            return entry

        def _modes(self, files: list[dict[str, str]], branch: str) -> list[dict[str, object]]:
            def mode(path: str) -> str:
                return "lfs" if path.endswith(".parquet") and not hub.regular else "regular"

            return [{"path": f["path"], "uploadMode": mode(f["path"]), "shouldIgnore": False} for f in files]

        def _batch(self, asked: dict[str, list[dict[str, object]]]) -> None:
            answers: list[dict[str, object]] = []
            for each in asked["objects"]:
                sha256, size = str(each["oid"]), int(str(each["size"]))
                answers.append({"oid": sha256, "size": size})
                if sha256 not in hub.contents:
                    count = -(-size // hub.part_bytes)
                    urls = {f"{i:05d}": f"{hub.address}/put/{sha256}/{i}" for i in range(1, count + 1)}
                    header = {"chunk_size": str(hub.part_bytes), **urls}
                    answers[-1]["actions"] = {"upload": {"href": f"{hub.address}/complete/{sha256}", "header": header}}
            self._json(200, {"transfer": "multipart", "objects": answers})

        def _complete(self, sha256: str, asked: dict[str, list[dict[str, int]]]) -> None:
            data = b"".join(hub.parts[sha256, part["partNumber"]] for part in asked["parts"])
            assert hashlib.sha256(data).hexdigest() == sha256
            hub.contents[sha256] = data
            self._json(200, {})

        def _commit(self, branch: str, lines: list[dict[str, dict[str, str]]]) -> None:
            head = lines[0]["value"]
            if head.get("parentCommit") not in (None, hub.head(branch)):
                return self._json(412, {"error": "A commit has happened since. Please refresh and try again."})
            files = dict(hub.branches[branch])
            for line in lines[1:]:
                value = line["value"]
                if line["key"] == "file":
                    data = base64.b64decode(value["content"])
                    files[value["path"]] = hashlib.sha256(data).hexdigest()
                    hub.contents[files[value["path"]]] = data
                elif line["key"] == "lfsFile":
                    assert value["oid"] in hub.contents, "a commit of what was not sent"
                    files[value["path"]] = value["oid"]
                    hub.large.add(value["path"])
                else:
                    assert line["key"] == "deletedFile"
                    del files[value["path"]]
            hub.branches[branch] = files
            hub.commits.append(head["summary"])
            url = f"{hub.address}/datasets/{hub.repo}/commit/{hub.head(branch)}"
            return self._json(200, {"commitUrl": url, "commitOid": hub.head(branch)})

        def _resolve(self, branch: str, name: str) -> None:
            data = hub.files(branch)[name]
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", hub.head(branch))
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def _json(self, status: int, value: object, **headers: str) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name.replace("_", "-"), text)
            if status >= 400 and isinstance(value, dict):
                self.send_header("X-Error-Message", str(value.get("error")))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
