"""Addresses of offices stay where the config names them, with the phone numbers beside them; people's never do."""

import pytest
from pydantic import ValidationError

from obelics_pipeline.core.config.personal_data import PersonalDataConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.policy.personal_data.clean import Cleaner

PRESS = "Press: (212) 555-0187, press@city.example"
MASKED = {"email": "mask", "phone": "mask"}


def cleaned(*texts: str, mailboxes: tuple[str, ...] = ("press", "info"), **values: object) -> Document:
    config = PersonalDataConfig(enabled=True, public_mailboxes=list(mailboxes), **(MASKED | values))  # type: ignore[arg-type]
    made = Document("", "https://a.example/", "", 0, 0, [TextNode(text) for text in texts])
    Cleaner(config, lambda _text: None).clean(made, "en")
    return made


def texts(made: Document) -> list[str]:
    return [node.text for node in made.nodes if isinstance(node, TextNode)]


def test_nothing_is_public_by_default() -> None:
    assert texts(cleaned(PRESS, mailboxes=())) == ["Press: [phone], [email]"]


@pytest.mark.parametrize("text", [PRESS, "Info@City.example", "info [at] city dot com"])
def test_a_public_contact_is_left_as_it_is_written(text: str) -> None:
    assert texts(cleaned(text)) == [text]


@pytest.mark.parametrize("text", ["anna@city.example", "press.anna@city.example", "anna.press@city.example"])
def test_an_address_of_a_person_is_treated(text: str) -> None:
    assert texts(cleaned(text)) == ["[email]"]


def test_a_phone_number_is_public_only_where_no_person_is_written_to() -> None:
    assert texts(cleaned(PRESS + ", anna@city.example")) == ["Press: [phone], press@city.example, [email]"]
    assert texts(cleaned("press@city.example", "Call (212) 555-0187.")) == ["press@city.example", "Call [phone]."]


def test_what_is_public_on_a_page_is_public_all_over_it() -> None:
    assert texts(cleaned("Call (212) 555-0187 or (212) 555-0199.", PRESS)) == [
        "Call (212) 555-0187 or [phone].",
        PRESS,
    ]


def test_other_kinds_beside_a_public_address_are_treated() -> None:
    assert texts(cleaned("info@city.example, IP 84.12.33.9", ip="mask")) == ["info@city.example, IP [ip]"]


def test_a_public_contact_drops_nothing() -> None:
    made = cleaned(PRESS, email="drop_document", phone="drop_paragraph")
    assert (made.reason, made.nodes[0].reason) == (None, None)


def test_public_values_are_counted_once_and_with_their_kinds() -> None:
    scores = cleaned(PRESS, "anna@city.example").scores
    assert (scores["personal_public"], scores["personal_email"], scores["personal_phone"]) == (2, 2, 1)
    assert "personal_public" not in cleaned(PRESS, mailboxes=()).scores


def test_a_public_address_in_a_url_does_not_drop_the_image() -> None:
    config = PersonalDataConfig(enabled=True, public_mailboxes=["press"])
    images = [ImageNode(f"https://a.example/{name}@city.example/x.png", "x.png") for name in ("press", "anna")]
    made = Document("", "https://a.example/", "", 0, 0, list(images))
    Cleaner(config, lambda _text: None).clean(made, "en")
    assert [image.reason for image in images] == [None, "personal_data_url"]


@pytest.mark.parametrize("name", ["Press", "press@", "", "a b"])
def test_what_is_no_name_of_a_mailbox_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="no name of a mailbox"):
        PersonalDataConfig(public_mailboxes=[name])
