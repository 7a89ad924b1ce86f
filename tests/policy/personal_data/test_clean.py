"""A document is treated in all that is stored of it, as the config says, and what was found is counted."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config.personal_data import PersonalDataConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.personal_data.clean import Cleaner

TEXT = "Write to anna@web.de, call (212) 555-0187."


def document(*texts: str, url: str = "https://a.example/") -> Document:
    return Document("", url, "", 0, 0, [TextNode(text) for text in texts])


def treated(made: Document, **values: object) -> Document:
    config = PersonalDataConfig(enabled=True, **values)  # type: ignore[arg-type]
    Cleaner(config, lambda _text: None).clean(made, "en")
    return made


def texts(made: Document) -> list[str]:
    return [node.text for node in made.nodes if isinstance(node, TextNode)]


def test_the_same_value_has_the_same_pseudonym_in_every_spelling_and_document() -> None:
    first = texts(treated(document("anna@web.de and Anna@WEB.de", "anna [at] web dot de")))
    other = texts(treated(document("anna@web.de")))
    assert len({*first[0].split(" and "), first[1], other[0]}) == 1
    assert other[0].endswith("@example.com")
    assert texts(treated(document("otto@web.de"))) != other


def test_a_key_of_one_s_own_gives_other_pseudonyms(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"k" * 32)
    assert texts(treated(document(TEXT), key_file=str(path))) != texts(treated(document(TEXT)))
    path.write_bytes(b"short")
    with pytest.raises(UserError, match="must have 16 to 4,096"):
        treated(document(TEXT), key_file=str(path))
    with pytest.raises(UserError, match="No such file"):
        treated(document(TEXT), key_file=str(tmp_path / "none"))


def test_each_kind_has_its_treatment() -> None:
    assert texts(treated(document(TEXT), email="mask", phone="keep")) == ["Write to [email], call (212) 555-0187."]
    assert texts(treated(document(TEXT), email="ignore", phone="mask")) == ["Write to anna@web.de, call [phone]."]


def test_a_paragraph_or_a_document_is_dropped_and_its_text_masked_all_the_same() -> None:
    paragraph = treated(document("fine", TEXT), email="drop_paragraph", phone="mask")
    assert [node.reason for node in paragraph.nodes] == [None, "personal_data_email"]
    assert paragraph.reason is None
    assert texts(paragraph)[1] == "Write to [email], call [phone]."
    whole = treated(document(TEXT), phone="drop_document")
    assert whole.reason == "personal_data_phone"
    assert "555" not in texts(whole)[0]


def test_what_was_found_is_counted_by_kind_kept_or_not() -> None:
    scores = treated(document(TEXT, "anna@web.de"), phone="keep", mac="ignore").scores
    assert (scores["personal_email"], scores["personal_phone"], scores["personal_ip"]) == (2, 1, 0)
    assert "personal_mac" not in scores


def test_alt_texts_titles_and_file_names_are_covered() -> None:
    image = ImageNode(
        "https://a.example/x.png", "x.png", alt_text="Foto: anna@web.de", formatted_filename="x 84.12.33.9"
    )
    made = document()
    made.nodes.append(image)
    made.general["title"] = "Anna, anna@web.de"
    treated(made, email="mask", ip="mask")
    assert (image.alt_text, image.formatted_filename) == ("Foto: [email]", "x [ip]")
    assert made.general["title"] == "Anna, [email]"
    assert image.reason is None


@pytest.mark.parametrize(
    ("url", "after"),
    [
        ("https://a.example/unsubscribe?email=anna%40web.de&x=1", "https://a.example/unsubscribe?email=[email]&x=1"),
        ("https://a.example/users/anna@web.de/x", "https://a.example/users/[email]/x"),
        ("https://a.example/c?phone=%2B49+30+123456", "https://a.example/c?phone=%5Bphone%5D"),
        ("https://a.example/c?user_mobile=0171-1234567#t", "https://a.example/c?user_mobile=%5Bphone%5D#t"),
        (
            "https://a.example/logo@2x.png?v=1.2.3.4&id=0301234567",
            "https://a.example/logo@2x.png?v=1.2.3.4&id=0301234567",
        ),
        ("https://medium.com/@anna/post", "https://medium.com/@anna/post"),
    ],
)
def test_the_url_of_a_page_is_covered(url: str, after: str) -> None:
    made = treated(document("text", url=url), email="mask", phone="mask")
    assert made.url == after
    assert treated(document("text", url=url), urls=False).url is url


def test_an_image_whose_url_holds_an_address_is_dropped_and_its_url_treated() -> None:
    url = "https://a.example/avatar?mail=anna@web.de"
    images = [ImageNode(url, url), ImageNode("https://a.example/x@2x.png", "x@2x.png")]
    made = document()
    made.nodes += images
    treated(made)
    assert images[0].reason == "personal_data_url"
    assert "anna" not in images[0].src + images[0].unformatted_src
    assert (images[1].reason, images[1].src) == (None, "https://a.example/x@2x.png")
    assert made.scores["personal_email"] == 1


def test_values_side_by_side_are_all_treated() -> None:
    once = texts(treated(document("06 12 34 56 78anna@web.de"), regions=["DE"]))
    assert texts(treated(document(*once), regions=["DE"])) == once
    assert "06 12" not in once[0]
    near_ours = document("+49 30 123456)2a02:8108:8ac0::1f")
    assert texts(treated(near_ours))[0].partition(")")[2].startswith("2001:db8:")


def test_a_value_does_not_reach_over_two_paragraphs() -> None:
    assert texts(treated(document("Tel. 030", "123456 is a number", "anna@", "web.de"))) == [
        "Tel. 030", "123456 is a number", "anna@", "web.de",
    ]  # fmt: skip
