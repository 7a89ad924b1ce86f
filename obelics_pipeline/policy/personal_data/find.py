"""All personal data of a text, behind tests that tell within a few microseconds that there can be none."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from obelics_pipeline.policy.personal_data.bank import CARD_KIND, IBAN, find_cards, find_ibans
from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.email import KIND as EMAIL
from obelics_pipeline.policy.personal_data.email import find_emails
from obelics_pipeline.policy.personal_data.finding import Finding, Taken
from obelics_pipeline.policy.personal_data.hidden_email import find_hidden_emails
from obelics_pipeline.policy.personal_data.national_id import KIND as NATIONAL_ID
from obelics_pipeline.policy.personal_data.national_id import find_national_ids
from obelics_pipeline.policy.personal_data.network import IP, MAC, find_macs, find_v4, find_v6
from obelics_pipeline.policy.personal_data.phone import KIND as PHONE
from obelics_pipeline.policy.personal_data.phone import find_phones
from obelics_pipeline.policy.personal_data.plain import flat, plain
from obelics_pipeline.policy.personal_data.pseudonym import standing
from obelics_pipeline.policy.personal_data.regions import Regions
from obelics_pipeline.policy.personal_data.runs import find_runs, form_of


def find(
    written: str,
    kinds: Collection[str],
    regions: Regions,
    special_addresses: bool = False,
    budget: SearchBudget | None = None,
) -> list[Finding]:
    """Values of these kinds in a text, from left to right, not overlapping. Time is linear in its length.

    `regions`: whose national numbers to look for. `budget`: what the page may still cost (None: a whole one). Raises
    only TooManyLooks.
    """
    budget = budget or SearchBudget()
    text = plain(written)
    data = flat(text)
    form = form_of(data)
    runs = list(find_runs(form))
    taken = Taken(standing(data, runs))
    found: list[Finding] = []

    def add(findings: Iterable[Finding]) -> None:
        found.extend(f for f in sorted(findings, key=lambda f: (f.begin, -f.end)) if taken.take(f.begin, f.end))

    if EMAIL in kinds:
        if b"@" in data:
            add(find_emails(text, budget))
        add(find_hidden_emails(text, data, budget))
    if runs:
        if IBAN in kinds:
            add(find_ibans(text, runs, budget))
        if CARD_KIND in kinds:
            add(find_cards(text, runs, taken, budget))
        if IP in kinds:
            add(find_v4(text, runs, taken, special_addresses, budget))
    if MAC in kinds:
        add(find_macs(text, data, taken, budget))
    if IP in kinds:
        add(find_v6(text, data, taken, special_addresses, budget))
    if NATIONAL_ID in kinds:
        add(find_national_ids(text, form, runs, regions, taken, budget))
    if runs and PHONE in kinds:
        found += find_phones(text, runs, regions, taken, budget)
    return sorted(found, key=lambda f: f.begin)
