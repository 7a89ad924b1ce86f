"""robots.txt (RFC 9309) by protego: what a host allows us, and how fast; and what else it says of our use.

ai.txt is Spawning's (https://spawning.ai/ai-txt): the same rules, about training on what they name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.client import GuardedClient
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import Target
from obelics_pipeline.policy.opt_outs.tdm import WELL_KNOWN, TdmRule, file_tdm, read_file
from obelics_pipeline.stages.fetch.reason import is_server_error
from obelics_pipeline.stages.fetch.rule_files import RuleFile, RuleFiles

if TYPE_CHECKING:
    from protego import Protego

AI_FILE, TDM_FILE = "/ai.txt", WELL_KNOWN
MAX_ROBOTS_BYTES = 500 * 2**10  # RFC 9309 2.5: at least 500 KiB must be parsed; what follows is ignored
MAX_ROBOTS_REDIRECTS = 5  # RFC 9309 2.3.1.2: at least five


@dataclass(frozen=True)
class Robots:
    """The rules of one origin. `refusal`: the reason if nothing of the origin may be fetched, else None."""

    rules: RuleFile[Protego] | None = None
    refusal: str | None = None  # a reason
    crawl_delay: float = 0.0  # seconds
    ai: RuleFile[Protego] | None = None  # the rules of ai.txt
    tdm: RuleFile[tuple[TdmRule, ...]] | None = None  # of tdmrep.json, where it has any

    def check(self, target: Target, token: str) -> None:
        """Raises FetchError: robots_txt where the target is disallowed, or the reason why nothing can be known.

        The same with ai_txt, and with tdm_reserved where the right to mine it is reserved.
        """
        if self.refusal is not None:
            raise FetchError(self.refusal)
        if self.rules is not None and not self.rules.rules().can_fetch(target.url, token):
            raise FetchError("robots_txt")
        if self.ai is not None and not self.ai.rules().can_fetch(target.url, token):
            raise FetchError("ai_txt")
        if self.tdm is not None and file_tdm(self.tdm.rules(), target.path).reserved:
            raise FetchError("tdm_reserved")


ALLOW_ALL = Robots()


def robots_target(target: Target, path: str = "/robots.txt") -> Target:
    """Where the robots.txt of a target's origin is, or another of its files."""
    return Target(target.scheme, target.host, target.port, path, target.address)


def fetch_file(guard: GuardedClient, place: Target, config: FetchingConfig, accept: str) -> bytes | None:
    """One of the files that a site may have beside its robots.txt; None where it has none, or gives none now.

    Raises Redirected where it has moved.
    """
    try:
        with guard.open(place, Deadline(config.timeout_seconds), accept=accept) as answer:
            answer.demand_body()
            return answer.read_prefix(MAX_ROBOTS_BYTES)
    except FetchError as error:
        if error.reason == "redirect":
            raise
        return None


def with_file(robots: Robots, path: str, content: bytes | None, config: FetchingConfig, files: RuleFiles) -> Robots:
    """The rules of an origin, with those of one more of its files."""
    if content is None:
        return robots
    if path == TDM_FILE:
        return replace(robots, tdm=files.add(content, _tdm_rules) if _tdm_rules(content) else None)
    return replace(robots, ai=read_robots(content, config, files).rules)


def _tdm_rules(content: bytes) -> tuple[TdmRule, ...]:
    return tuple(read_file(content))


def fetch_robots(guard: GuardedClient, place: Target, config: FetchingConfig, files: RuleFiles) -> Robots:
    """Ask one place for a robots.txt, with a deadline of its own. Raises Redirected where it has moved.

    RFC 9309 2.3.1: unavailable (4xx) allows everything; unreachable (5xx, no answer) forbids everything for now.
    """
    try:
        with guard.open(place, Deadline(config.timeout_seconds), accept="text/plain") as answer:
            answer.demand_body()
            return read_robots(answer.read_prefix(MAX_ROBOTS_BYTES), config, files)
    except FetchError as error:
        if error.reason == "redirect":
            raise
        return robots_without_answer(error.reason)


def read_robots(content: bytes, config: FetchingConfig, files: RuleFiles) -> Robots:
    """Parse a robots.txt, and keep it in `files`; what is not understood in it allows.

    Raises OSError where the disk is full.
    """
    with files.held():
        try:
            rules = files.add(content, _rules)
            delay = rules.rules().crawl_delay(config.robots_token)
        except OSError:
            raise
        except Exception:  # an untrusted file in a parser that is not ours: unreadable is unavailable
            return ALLOW_ALL
    seconds = max(0.0, delay or 0.0)
    if seconds > config.max_crawl_delay_seconds:
        return Robots(rules, refusal="crawl_delay_too_long")
    return Robots(rules, crawl_delay=seconds)


def _rules(content: bytes) -> Protego:
    from protego import Protego

    return Protego.parse(content.decode("utf-8-sig", "replace"))


def robots_without_answer(reason: str) -> Robots:
    """The rules of an origin whose robots.txt could not be fetched, for this reason."""
    if reason.startswith("http_") and not is_server_error(reason) and reason != "http_429":
        return ALLOW_ALL
    if reason in ("private_address", "forbidden_port", "dns", "refused", "host_down", "bad_url"):
        return Robots(refusal=reason)  # the images would meet the same
    return Robots(refusal="robots_unavailable")
