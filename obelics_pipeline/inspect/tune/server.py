"""The page's server: files of the page, questions to the workbench, and images of the run. Nothing else is served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from pydantic import ValidationError, validate_call
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.tune.workbench import Workbench

PAGE = Path(__file__).parent / "page"
HOSTS = ["localhost", "127.0.0.1", "[::1]"]  # a page of another name that points here gets nothing (DNS rebinding)
MOST_BYTES = 1_000_000  # of a question
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Cache-Control": "no-store",
}
# How the files of images that a run stores begin; what begins otherwise is not shown as one.
_BEGINNINGS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}
_ANYTHING = "application/octet-stream"


def application(bench: Workbench, token: str, hosts: list[str] | None = None) -> Starlette:
    """The server as an ASGI application; every address begins with the token, and all others are not found."""
    questions = _questions(bench)

    async def ask(request: Request) -> Response:
        question = questions.get(request.path_params["name"])
        if question is None:
            return JSONResponse({"error": f"no such question; there are {', '.join(questions)}"}, 404)
        return await _answer(question, request)

    async def image(request: Request) -> Response:
        try:
            content = await run_in_threadpool(bench.image, request.path_params["sha256"])
        except UserError as error:
            return JSONResponse({"error": str(error)}, 404)
        return Response(content, media_type=_kind(content))

    routes = [
        Route("/api/{name}", ask, methods=["POST"]),
        Route("/image/{sha256}", image),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS if hosts is None else hosts),
        Middleware(BaseHTTPMiddleware, dispatch=_with_headers),
        Middleware(BaseHTTPMiddleware, dispatch=_of_own_page),
    ]
    return Starlette(routes=[Mount(f"/{token}", routes=routes)], middleware=middleware)


def _questions(bench: Workbench) -> Mapping[str, Callable[..., Any]]:
    """The methods that a page may call by name, with the types of their arguments checked."""
    methods = (
        bench.about, bench.levels, bench.estimate, bench.counts, bench.reasons, bench.histogram, bench.near,
        bench.listed, bench.settings_of, bench.compared, bench.document, bench.mark, bench.marked, bench.suggested,
        bench.start_dry_run, bench.dry_run, bench.saved, bench.map.map_state, bench.map.make_map, bench.map.map_points,
        bench.map.map_color, bench.map.map_document, bench.map.region, bench.map.region_rules, bench.map.training_set,
    )  # fmt: skip
    return {method.__name__: validate_call(method) for method in methods}


async def _answer(question: Callable[..., Any], request: Request) -> Response:
    """What is wrong with a question is said in one line, as on the command line."""
    body = await request.body()
    try:
        if len(body) > MOST_BYTES:
            raise UserError(f"a question has at most {MOST_BYTES} bytes, this one has {len(body)}")
        values = await request.json() if body else {}
        if not isinstance(values, dict):
            raise UserError("a question is a JSON object of arguments")
        return JSONResponse({"answer": await run_in_threadpool(question, **values)})
    except UserError as error:
        return JSONResponse({"error": str(error)}, 400)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return JSONResponse({"error": f"{place}: {first['msg']}"}, 400)
    except RecursionError:
        return JSONResponse({"error": "not JSON that can be read: nested too deep"}, 400)
    except JSONDecodeError as error:
        return JSONResponse({"error": f"not JSON: {error}"}, 400)
    except OSError as error:
        return JSONResponse({"error": f"{error.filename}: {error.strerror}"}, 500)


async def _with_headers(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    response.headers.update(HEADERS)
    return response


async def _of_own_page(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuses what a browser says that a page of another origin asks for, were the token known to it.

    Another port of this machine is another origin: another user may serve there. To be led here is no question.
    """
    asked = request.headers
    own = asked.get("origin") in (None, f"http://{asked.get('host')}")
    led = asked.get("sec-fetch-mode") == "navigate" and request.method == "GET"
    if own and (led or asked.get("sec-fetch-site") in (None, "same-origin", "none")):
        return await call_next(request)
    return JSONResponse({"error": "asked by a page of another origin"}, 403)


def _kind(content: bytes) -> str:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for begin, kind in _BEGINNINGS.items() if content.startswith(begin)), _ANYTHING)
