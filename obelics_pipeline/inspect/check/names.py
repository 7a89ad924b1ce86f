"""Whether host names can be looked up, tried with hosts of the sample."""

from __future__ import annotations

from collections import Counter

from obelics_pipeline.core.config import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.check.finding import Finding
from obelics_pipeline.net.address import AllowList
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.proxy import Proxies
from obelics_pipeline.net.resolver import Resolver
from obelics_pipeline.net.target import parse_target
from obelics_pipeline.stages.fetch.host import host_of

HOSTS = 5  # that are looked up: those with the most images
SECONDS = 5.0  # for each


def name_finding(urls: list[str], config: FetchingConfig) -> Finding:
    """Look up the hosts that most image URLs name. A public site that answers with a private address is suspicious."""
    hosts = Counter(host for url in urls if (host := host_of(url)))
    tried = [host for host, _ in sorted(hosts.items(), key=lambda item: (-item[1], item[0]))[:HOSTS]]
    if not tried:
        return Finding("names", "ok", "no image URL in the sample")
    first = {host: next(url for url in urls if host_of(url) == host) for host in tried}
    try:
        outcome = {host: _look_up(first[host], config) for host in tried}
    except UserError as error:
        return Finding("names", "missing", str(error))
    failed = [host for host, reason in outcome.items() if reason == "dns"]
    private = [host for host, reason in outcome.items() if reason == "private_address"]
    if private:
        told = (
            f"{', '.join(private)}: the answer is a private address, which is never asked; is the resolver a sinkhole, "
        )
        return Finding("names", "warning", told + "or is the site your own (fetch.allow_private)?")
    if len(failed) == len(tried):
        told = f"none of {', '.join(tried)} could be resolved; see /etc/resolv.conf, or --set fetch.enabled=false"
        return Finding("names", "missing", told)
    if failed:
        return Finding("names", "warning", f"{', '.join(failed)}: could not be resolved, of {len(tried)} hosts tried")
    through = " through the proxy" if "proxy" in outcome.values() else ""
    return Finding("names", "ok", f"{len(tried)} hosts of the sample{through}")


def _look_up(url: str, config: FetchingConfig) -> str:
    """Why a host cannot be asked, "proxy" where a proxy looks it up, or nothing. Raises UserError for a wrong proxy."""
    try:
        target = parse_target(url)
        if Proxies().for_target(target) is not None:
            return "proxy"
        Resolver(AllowList(config.allow_private), config.ports).checked(target, Deadline(SECONDS))
    except (FetchError, TimeoutError) as error:
        return error.reason if isinstance(error, FetchError) else "dns"
    return ""
