"""All personal data of a text, behind tests that tell within a few microseconds that there can be none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from obelics_pipeline.personal_data.bank import CARD_KIND, IBAN, find_cards, find_ibans
from obelics_pipeline.personal_data.email import find_emails, find_hidden_emails
from obelics_pipeline.personal_data.finding import Finding, Taken
from obelics_pipeline.personal_data.national_id import find_national_ids
from obelics_pipeline.personal_data.network import IP, MAC, find_macs, find_v4, find_v6
from obelics_pipeline.personal_data.phone import find_phones
from obelics_pipeline.personal_data.plain import plain
from obelics_pipeline.personal_data.pseudonym import standing
from obelics_pipeline.personal_data.runs import find_runs


def find(
    written: str, kinds: Collection[str], regions: Callable[[], tuple[str, ...]], special_addresses: bool = False
) -> list[Finding]:
    """What of these kinds is in a text, from left to right, not overlapping.

    `regions` tells whose national numbers to look for; it is asked at most once, and only where it matters. Never
    raises; the time is proportional to the length of the text.
    """
    text = plain(written)
    taken = Taken(standing(text))
    found: list[Finding] = []
    asked: list[tuple[str, ...]] = []

    def regions_once() -> tuple[str, ...]:
        if not asked:
            asked.append(regions())
        return asked[0]

    def add(findings: Iterable[Finding]) -> None:
        found.extend(f for f in sorted(findings, key=lambda f: (f.begin, -f.end)) if taken.take(f.begin, f.end))

    if "email" in kinds:
        if "@" in text:
            add(find_emails(text))
        add(find_hidden_emails(text))
    runs = list(find_runs(text))
    if runs:
        if IBAN in kinds:
            add(find_ibans(text, runs))
        if CARD_KIND in kinds:
            add(find_cards(text, runs, taken))
        if IP in kinds:
            add(find_v4(text, runs, taken, special_addresses))
    if MAC in kinds:
        add(find_macs(text, taken))
    if IP in kinds and ":" in text:
        add(find_v6(text, taken, special_addresses))
    if "national_id" in kinds:
        add(find_national_ids(text, runs, regions_once, taken))
    if runs and "phone" in kinds:
        found += find_phones(text, runs, regions_once, taken)
    return sorted(found, key=lambda f: f.begin)
