"""Lists that lie at a URL, fetched by the guarded client of images: bounded, and never from a private address."""

from __future__ import annotations

import hashlib
from pathlib import Path

from obelics_pipeline.core.config.blocklists import BlocklistConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes

MAX_DOWNLOAD = 512 * 2**20  # bytes, as sent
SECONDS = 900.0  # of a download, redirects included
MAX_REDIRECTS = 5


def download(config: BlocklistConfig, fetching: FetchingConfig, target: Path) -> None:
    """Fetch a list to a file, whole or not at all. Raises UserError where it cannot be had, or is another one."""
    content = _content(config.path, fetching)
    found = hashlib.sha256(content).hexdigest()
    if found != config.sha256:
        raise UserError(
            f"blocklist {config.path}: has the sha256 {found}, not {config.sha256}; if it has changed and you trust "
            "it, write the new one"
        )
    write_bytes(target, content)


def _content(url: str, fetching: FetchingConfig) -> bytes:
    from obelics_pipeline.net.body import BodyBudget
    from obelics_pipeline.net.client import GuardedClient
    from obelics_pipeline.net.deadline import Deadline
    from obelics_pipeline.net.failure import FetchError, Redirected
    from obelics_pipeline.net.target import join_location, parse_target

    deadline = Deadline(SECONDS)
    budget = BodyBudget(MAX_DOWNLOAD, 1, MAX_DOWNLOAD)
    try:
        target = parse_target(url)
        ports = (*fetching.ports, target.port)  # the config names the last one
        with GuardedClient(fetching.model_copy(update={"ports": ports})) as guard:
            for _ in range(MAX_REDIRECTS + 1):
                try:
                    with guard.open(target, deadline) as answer, budget.request():
                        answer.demand_body()
                        return answer.read_body(MAX_DOWNLOAD, budget)
                except Redirected as moved:
                    target = join_location(target, moved.location)
        raise FetchError("too_many_redirects")
    except FetchError as error:
        raise UserError(
            f"blocklist {url}: cannot be fetched ({error.reason}); fetch it yourself and give its path"
        ) from None
