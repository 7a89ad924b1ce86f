"""The sentences about a run that the terminal and the page share."""

from __future__ import annotations

import time
from collections.abc import Iterator

from obelics_pipeline.core.counted import counted
from obelics_pipeline.inspect.report import human
from obelics_pipeline.inspect.status.ahead import Ahead
from obelics_pipeline.inspect.status.status import AT_WORK, Cost, Status

NAMES = {"urls": "URLs"}  # of nouns, where they are no words


def moment(seconds: float) -> str:
    """A time in UTC: machines of a run may be anywhere."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def ago(seconds: float, now: float) -> str:
    """How long ago it was."""
    return f"{human.seconds(max(0.0, now - seconds))} ago"


def amount(noun: str, n: float) -> str:
    """So many of a noun: 1.2 GB, 3,400 URLs."""
    return human.size(n) if noun == "bytes" else f"{n:,.0f} {NAMES.get(noun, noun)}"


def state_line(status: Status) -> str:
    """The state, since when, and what says so."""
    since = f" since {moment(status.begun)}" if status.begun is not None and status.state in AT_WORK else ""
    return f"{status.state}{since}: {status.why}" if status.why else f"{status.state}{since}"


def about_line(status: Status) -> str:
    """The last event, the config, the starts."""
    parts = []
    if status.last_event is not None:
        parts.append(f"last event {ago(status.last_event, status.now)} ({moment(status.last_event)})")
    parts.append(f"config {status.config}")
    if status.workers is not None:
        parts.append(counted(status.workers, "workers"))
    if status.starts > 1:
        parts.append(f"started {status.starts:,} times")
    return " · ".join(parts)


def ahead_lines(status: Status) -> Iterator[str]:
    """What is done of the step at hand, how fast, and when it will be done; and how that was reckoned."""
    found = status.ahead
    if found is None:
        return
    yield f"{status.step}: {_done(found)}, {_left(found, status.now)}"
    how = f"reckoned {found.how}, since the step began"
    if status.not_reckoned:
        how += f"; not reckoned: what follows ({', '.join(status.not_reckoned)})"
    yield how


def _done(found: Ahead) -> str:
    if found.noun == "bytes":
        return f"{human.size(found.done)} of {human.size(found.whole)} ({human.share(found.done, found.whole)})"
    return f"{found.done:,} of {amount(found.noun, found.whole)} ({human.share(found.done, found.whole)})"


def _left(found: Ahead, now: float) -> str:
    if found.rate is None or found.seconds_left is None:
        return "too early to say when it is done"
    many = amount(found.noun, found.rate) if found.noun == "bytes" or found.rate >= 9.5 else f"{found.rate:.2g}"
    noun = "" if many[-1].isalpha() else f" {NAMES.get(found.noun, found.noun)}"
    left = max(0.0, found.at + found.seconds_left - now)
    when = f"about {human.seconds(left)} left, until {moment(found.at + found.seconds_left)}" if left else "due by now"
    return f"{many}{noun}/s: {when}"


def cost_line(cost: Cost) -> str:
    """What is known of the cost so far."""
    parts = []
    if cost.cpu_hours is not None:
        rest = f" ({cost.units_untold:,} units did not say)" if cost.units_untold else ""
        parts.append(f"{human.seconds(cost.cpu_hours * 3600)} of CPU in units{rest}")
    if cost.worker_hours is not None and cost.dollars is not None:
        paid = f"{human.money(cost.dollars)} at ${cost.vcpu_hour:g} an hour"
        parts.append(f"{human.seconds(cost.worker_hours * 3600)} of workers, idle or not: {paid}")
    if cost.site_requests:
        parts.append(f"{counted(cost.site_requests, 'requests')} for images")
    return "; ".join(parts)
