"""A GCS protocol server on loopback: gcp-storage-emulator, with the precondition that it does not know.

All of it is the emulator's but one rule, of which it takes no notice: with `ifGenerationMatch` an object is put only
over that generation, with 0 only where there is none (https://cloud.google.com/storage/docs/request-preconditions).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from gcp_storage_emulator import server as emulator
from gcp_storage_emulator.exceptions import NotFound
from gcp_storage_emulator.handlers import objects

_INSERT = objects.insert


def _insert(request: Any, response: Any, storage: Any, *args: Any, **kwargs: Any) -> None:
    """Upload an object; 412 where another generation stands than the one that is to be replaced."""
    wanted = request.query.get("ifGenerationMatch")
    if wanted is not None and wanted != [_generation(request, storage)]:
        response.status = HTTPStatus.PRECONDITION_FAILED
    else:
        _INSERT(request, response, storage, *args, **kwargs)


def _generation(request: Any, storage: Any) -> str:
    name = request.query["name"][0] if "name" in request.query else request.data["meta"]["name"]
    try:
        return str(storage.get_file_obj(request.params["bucket_name"], name)["generation"])
    except NotFound:
        return "0"


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server, while the block runs. It answers one request after the other."""
    routes = tuple(
        (path, {verb: _insert if handler is _INSERT else handler for verb, handler in verbs.items()})
        for path, verbs in emulator.HANDLERS
    )
    before, emulator.HANDLERS = emulator.HANDLERS, routes
    server = emulator.create_server("127.0.0.1", 0, in_memory=True)
    server.start()
    host, port = server._api._httpd.server_address[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()
        emulator.HANDLERS = before
