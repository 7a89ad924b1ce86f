"""An opt-out service on loopback, as Spawning's, that misbehaves on request and keeps a log of what it was asked."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from aiohttp import web

Behaviour = Callable[[web.Request, list[str]], Awaitable[web.StreamResponse]]


@dataclass
class Asked:
    at: float
    urls: list[str]
    headers: dict[str, str]


@dataclass
class Registry:
    """Answers for `opted_out`, but first each of `first`, one a request."""

    opted_out: Collection[str] = ()
    first: list[Behaviour] = field(default_factory=list)
    log: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Registry:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/query/urls", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", 0)
        self._loop.run_until_complete(site.start())
        self.port = runner.addresses[0][1]
        started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/query/urls"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        urls = json.loads(body)["urls"] if request.content_type == "application/json" else body.split("\n")
        self.log.append(Asked(time.monotonic(), urls, dict(request.headers)))
        behave = self.first.pop(0) if self.first else self.flags
        return await behave(request, urls)

    async def flags(self, _request: web.Request, urls: list[str]) -> web.StreamResponse:
        rows = [{"url": url, "optOut": url in self.opted_out, "optIn": False} for url in urls]
        return web.json_response({"urls": rows})

    async def listed(self, _request: web.Request, urls: list[str]) -> web.StreamResponse:
        return web.json_response({"urls": [url for url in urls if url in self.opted_out]})

    async def half(self, _request: web.Request, urls: list[str]) -> web.StreamResponse:
        return await self.flags(_request, urls[::2])


def status(code: int, body: bytes = b"", **headers: str) -> Behaviour:
    async def behave(_request: web.Request, _urls: list[str]) -> web.StreamResponse:
        return web.Response(status=code, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return behave


async def cut(request: web.Request, _urls: list[str]) -> web.StreamResponse:
    """Half of what was announced."""
    answer = web.StreamResponse(headers={"Content-Length": "1000"})
    await answer.prepare(request)
    await answer.write(b'{"urls": [')
    assert request.transport is not None
    request.transport.close()
    return answer


async def slow(request: web.Request, _urls: list[str]) -> web.StreamResponse:
    """A byte now and then."""
    answer = web.StreamResponse()
    await answer.prepare(request)
    for _ in range(100):
        await asyncio.sleep(0.1)
        await answer.write(b" ")
    return answer
