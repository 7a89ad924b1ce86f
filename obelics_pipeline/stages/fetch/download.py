"""The bytes of one image: one guarded request, and its answer or the reason of its failure."""

from __future__ import annotations

from contextlib import closing

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.body import BodyBudget
from obelics_pipeline.net.client import GuardedClient, Response
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import Target
from obelics_pipeline.policy.opt_outs.tdm import POLICY, RESERVATION, page_tdm
from obelics_pipeline.stages.fetch.opt_out import opt_out_reason

ACCEPT = "image/*,*/*;q=0.5"


def download(
    guard: GuardedClient, target: Target, deadline: Deadline, config: FetchingConfig, budget: BodyBudget
) -> bytes:
    """The whole body, within the caps. Raises FetchError, and Redirected.

    The body of an answer that is forbidden, or of no use, is never read. What is raised holds nothing of what was read.
    """
    try:
        with closing(guard.open(target, deadline, accept=ACCEPT)) as response:
            _look_at(response, config)
            return response.read_body(config.max_bytes, budget)
    except FetchError as error:
        raise error.bare() from None
    except Exception:  # a fault of this program, or an answer that no library foresaw: it costs this image
        raise FetchError("fetch_error") from None


def _look_at(response: Response, config: FetchingConfig) -> None:
    """Raise FetchError where the headers forbid the use of the image, or announce no body."""
    if response.status < 400:
        tags = response.headers.get_all("X-Robots-Tag", [])
        reason = opt_out_reason(tags, config.robots_token, config.opt_out_directives)
        if reason is not None:
            raise FetchError(reason)
        said = [(name, response.headers.get(name, "")) for name in (RESERVATION, POLICY)]
        if config.tdm != "ignore" and page_tdm({}, said).reserved:
            raise FetchError("tdm_reserved")
    response.demand_body()
