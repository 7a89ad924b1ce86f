"""Personal data in texts: which kinds are looked for, and how each is treated."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from obelics_pipeline.core.config.section import Section

KINDS = ("email", "phone", "ip", "mac", "iban", "card", "national_id")
Treatment = Literal["replace", "mask", "drop_paragraph", "drop_document", "keep", "ignore"]
PUBLIC = "personal_public"  # the column of what was left as public
REGION_LETTERS = 2
_MAILBOX = re.compile(r"[a-z0-9._-]{1,64}")


def _region(code: str) -> str:
    if len(code) != REGION_LETTERS or not (code.isascii() and code.isalpha() and code.isupper()):
        raise ValueError(f"{code!r} is no region; ISO 3166 codes of two capitals are, such as DE or US")
    return code


def _mailbox(name: str) -> str:
    if not _MAILBOX.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a mailbox; it is what stands before the @, in small letters: press")
    return name


Region = Annotated[str, AfterValidator(_region)]
Mailbox = Annotated[str, AfterValidator(_mailbox)]


class PersonalDataConfig(Section):
    """The treatment of each kind: docs/personal_data.md.

    replace: a pseudonym, the same one for the same value wherever it stands. mask: `[email]`, `[phone]` and so on.
    drop_paragraph, drop_document: masked as well, and dropped. keep: counted, and left as it is. ignore: not looked
    for.
    """

    enabled: bool = Field(False, description="Look for personal data; false: nothing below has an effect.")
    email: Treatment = Field("replace", description="E-mail addresses, the ones written with [at] and dot as well.")
    phone: Treatment = Field("replace", description="Phone and fax numbers, national and international.")
    ip: Treatment = Field("replace", description="IP addresses, version 4 and 6.")
    mac: Treatment = Field("replace", description="Hardware addresses of network cards.")
    iban: Treatment = Field("replace", description="International bank account numbers, by their check digits.")
    card: Treatment = Field("replace", description="Payment card numbers, by issuer and check digit.")
    national_id: Treatment = Field("replace", description="Numbers by which a state knows a person.")
    regions: list[Region] = Field(
        default_factory=list,
        description="Regions whose national phone and identity numbers are looked for on every page, beside those "
        "that its language and its top-level domain suggest. ISO 3166 codes.",
    )
    special_addresses: bool = Field(
        False,
        description="Treat private, loopback, link-local, multicast and documentation IP addresses too; they name "
        "nobody.",
    )
    urls: bool = Field(
        True,
        description="Also in the URLs that are stored: e-mail addresses anywhere in them, phone numbers in parameters "
        "that are named so. An image whose URL holds one is dropped, for its changed URL leads nowhere.",
    )
    public_mailboxes: list[Mailbox] = Field(
        default_factory=list,
        description="Names before the @ that are an office's, not a person's, such as info and press: these addresses "
        "are left as they are, and so are phone numbers in a paragraph that has such addresses and no other.",
    )
    key_file: str | None = Field(
        None,
        description="File whose bytes (16 to 4,096) are the key of the pseudonyms: the same key gives the same ones in "
        "another corpus. null: a public key, with which anyone can test whether a guessed value was in the data.",
    )

    def treatment(self, kind: str) -> Treatment:
        """The treatment of one of KINDS."""
        chosen: Treatment = getattr(self, kind)
        return chosen

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are looked for, in order."""
        return tuple(kind for kind in KINDS if self.enabled and self.treatment(kind) != "ignore")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of documents: how many values of each kind were found, and how many were left as public."""
        public = (PUBLIC,) if self.enabled and self.public_mailboxes else ()
        return (*(f"personal_{kind}" for kind in self.kinds), *public)
