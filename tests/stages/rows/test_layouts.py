"""Each layout gives the texts and images of a row in its order, and says of a broken row what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from obelics_pipeline.core.document import ImageNode, TextNode, make_doc_id
from obelics_pipeline.stages.rows.layouts.layout import LAYOUTS
from obelics_pipeline.stages.rows.layouts.mint1t import FILES, FRAMES
from obelics_pipeline.stages.rows.row_document import RowDocument, WarcPlace, checked
from obelics_pipeline.stages.rows.row_error import RowError
from tests.stages.rows import made
from tests.stages.rows.made import FIRST, PAGE, SECOND


def document(layout: str, row: dict[str, Any]) -> RowDocument:
    return checked(LAYOUTS[layout].document_of(row))


def shown(found: RowDocument) -> list[str]:
    return [node.text if isinstance(node, TextNode) else node.src for node in found.nodes]


def images(found: RowDocument) -> list[ImageNode]:
    return [node for node in found.nodes if isinstance(node, ImageNode)]


def test_a_published_obelics_row_has_its_paragraphs_its_images_and_its_record() -> None:
    found = document("obelics", made.obelics())
    assert shown(found) == ["The bench.", "It is old.", FIRST, "The end."]
    assert (found.url, found.record) == (PAGE, WarcPlace("crawl/one.warc.gz", 7, 9))
    assert found.doc_id == make_doc_id("crawl/one.warc.gz", 7)
    assert (images(found)[0].alt_text, images(found)[0].unformatted_src) == ("A bench", "/one.png")
    assert found.general == {}


def test_a_row_of_ours_keeps_its_id_its_pictures_and_what_is_known_of_its_page() -> None:
    general = json.loads(made.obelics()["general_metadata"]) | {"title": "Benches", "own": [1, {"a": None}]}
    found = document("published", made.published(general_metadata=json.dumps(general)))
    assert (found.doc_id, found.pictures) == ("0" * 31 + "1", [b"one"])
    assert found.general == {"title": "Benches", "own": [1, {"a": None}]}


def test_the_caption_of_an_image_is_known_by_its_metadata() -> None:
    about = [None, {"src": FIRST, "caption": "The end."}, None]
    found = document("published", made.published(metadata=json.dumps(about)))
    assert [node.role for node in found.nodes if isinstance(node, TextNode)] == ["paragraph", "paragraph", "caption"]


def test_facts_of_an_image_that_cannot_be_are_left_out() -> None:
    wrong = {"rendered_width": "wide", "original_width": 2**40, "role": {}, "format": "../x", "unsafe": 7, "post": True}
    right = {"rendered_height": "50%", "original_height": 30, "similarity": 0.5, "position": 3}
    about = [None, {"src": FIRST} | wrong | right, None]
    image = images(document("obelics", made.obelics(metadata=json.dumps(about))))[0]
    assert [getattr(image, name) for name in wrong] == [None] * len(wrong)
    assert {name: getattr(image, name) for name in right} == right


def test_sentences_of_mmc4_are_a_text_up_to_the_next_image() -> None:
    found = document("mmc4", made.mmc4())
    assert shown(found) == ["One sentence.", FIRST, "Two sentences.", SECOND, "Three."]
    images_of_one = [info | {"matched_text_index": 1} for info in made.mmc4()["image_info"]]
    together = document("mmc4", made.mmc4(image_info=images_of_one))
    assert shown(together) == ["One sentence.", SECOND, FIRST, "Two sentences. Three."]
    assert found.general == {"could_have_url_duplicate": 0}


def test_an_image_of_mmc4_may_be_in_the_row_and_its_address_relative() -> None:
    row = made.with_picture(made.mmc4(), b"picture")
    row["image_info"][1]["raw_url"] = "pictures/one.png"
    found = document("mmc4", row)
    assert found.pictures == [None, b"picture"]
    assert images(found)[0].src == "https://pages.example/pictures/one.png"


@pytest.mark.parametrize("metadata", [[{"width": 640, "height": 480}], [None, {"width": 640, "height": 480}, None]])
def test_sizes_of_omnicorpus_are_those_of_images_or_of_places(metadata: list[Any]) -> None:
    found = document("omnicorpus", made.omnicorpus(metadata=metadata))
    assert shown(found) == ["The bench.", FIRST, "The end."]
    assert (images(found)[0].original_width, images(found)[0].original_height) == (640, 480)
    assert found.general == {"domain": ["pages.example"], "fluency_prob": 0.9, "id": "7", "porn_prob": 0.0}


def test_mint_1t_has_addresses_and_its_other_lists_are_not_read() -> None:
    found = document("mint1t", made.mint1t())
    assert shown(found) == ["The bench.", FIRST, "The end."]
    assert (found.pictures, found.general) == ([None], {"cc_dump": "CC-MAIN-2024-18"})


def mint_pictures(files: dict[str, bytes], *names: str, **more: Any) -> list[bytes | None]:
    """What a document of the tar has at the places of `names`; a picture that has none is a failure by its reason."""
    row = made.mint1t(images=[None, *names], texts=["The bench.", *[None] * len(names)])
    found = document("mint1t", row | {FILES: files} | more)
    for image, picture in zip(images(found), found.pictures, strict=True):
        assert (image.reason, image.failed) == ((None, False) if picture is not None else (FRAMES, True))
    return found.pictures


def objects(*numbers: int) -> dict[str, Any]:
    return {"image_metadata": [{"page": 0, "xref": number, "width": 9} for number in numbers]}


ONE, TWO, THREE = (f"page_0_image_{number}" for number in (1, 2, 3))


def test_pictures_of_mint_1t_are_found_by_their_names() -> None:
    named = {f"{ONE}.png": b"one", f"{TWO}.png": b"two", "tiff": b"no TIFF"}
    assert mint_pictures(named, ONE, TWO) == [b"one", b"two"]
    assert mint_pictures(named, TWO, f"key.{ONE}.png") == [b"two", b"one"]  # as in the tars that we export
    assert mint_pictures(named, ONE, THREE, TWO) == [b"one", b"no TIFF", b"two"]


def test_each_frame_of_a_tiff_is_the_picture_at_its_place() -> None:
    one, two, three = made.frames(3)
    tiff = {"tiff": made.tiff(3)}
    assert mint_pictures(tiff, ONE, TWO, THREE) == [one, two, three]
    assert mint_pictures(tiff, THREE, ONE, **objects(1, 2, 3)) == [three, one]
    assert mint_pictures(tiff, THREE, THREE, **objects(1, 2, 3)) == [three, three]
    assert mint_pictures(tiff, THREE, ONE, TWO, **objects(1, 2)) == [one, two, three]  # it does not have them all
    assert mint_pictures({"tif": made.tiff(1)}, ONE) == [one]
    assert mint_pictures(tiff | {f"{TWO}.png": b"two"}, ONE, TWO, THREE, **objects(1, 2, 3)) == [one, b"two", three]


def test_a_frame_that_cannot_be_told_or_cut_out_fails_and_the_others_stay() -> None:
    one, two, _ = made.frames(3)
    whole = made.tiff(3)
    assert mint_pictures({"tiff": whole}, ONE, TWO) == [None, None]  # three frames of two
    assert mint_pictures({"tiff": whole}, ONE, TWO, **objects(1, 2)) == [None, None]
    assert mint_pictures({"tiff": whole}, *(f"page_0_image_{number}" for number in range(4))) == [None] * 4
    for more in ({}, objects(1, 2, 3)):
        assert mint_pictures({"tiff": whole[:-200]}, ONE, TWO, THREE, **more) == [one, two, None]
    assert mint_pictures({"tiff": b"no TIFF"}, ONE, TWO) == [None, None]
    assert mint_pictures({"tiff": b"no TIFF"}, ONE) == [b"no TIFF"]  # the decoder says what it is


def test_a_line_of_json_brings_no_members() -> None:
    for files in ({ONE: "text"}, ["tiff"], "tiff", {"tiff": 7}):
        row = made.mint1t(images=[None, ONE], texts=["The bench.", None]) | {FILES: files}
        assert document("mint1t", row).pictures == [None]


HALF = "\ud800"
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("obelics", made.obelics(texts=None), "no_text"),
    ("obelics", made.obelics(images=[None, None, None]), "not_aligned"),
    ("obelics", made.obelics(images=[None]), "lengths_differ"),
    ("obelics", made.obelics(metadata="[{"), "broken_metadata"),
    ("obelics", made.obelics(metadata="[null, 7, null]"), "wrong_type"),
    ("obelics", made.obelics(general_metadata="{}"), "no_url"),
    ("obelics", made.obelics(general_metadata='{"url": "file:///etc/passwd"}'), "no_url"),
    ("obelics", made.obelics(general_metadata='{"url": NaN}'), "broken_metadata"),
    ("obelics", made.obelics(general_metadata=json.dumps({"url": PAGE, "published": "soon"})), "wrong_type"),
    ("obelics", made.obelics(general_metadata=json.dumps({"url": PAGE, "link_count": "7"})), "wrong_type"),
    ("obelics", made.obelics(general_metadata=json.dumps({"url": PAGE, "licences": [7]})), "wrong_type"),
    ("obelics", made.obelics(general_metadata=f'{{"url": "{PAGE}", "far": 1e999}}'), "wrong_type"),
    ("obelics", made.obelics(general_metadata="[" * 50_000), "broken_metadata"),
    ("obelics", made.obelics(texts=[HALF, None, "b"]), "not_utf8"),
    ("obelics", made.obelics(texts=["a" * 2**25, None, "b"]), "too_long"),
    ("obelics", made.obelics(texts=["a"] * 200_000, images=None, metadata=None), "too_long"),
    ("published", made.published(doc_id="one"), "wrong_type"),
    ("published", made.published(images=[None, "one", None]), "wrong_type"),
    ("published", made.published(images=[{"bytes": b"one"}, None, None]), "not_aligned"),
    ("published", made.published(images=[None]), "lengths_differ"),
    ("published", made.published(images=[None, {"path": "/etc/passwd"}, None]), "wrong_type"),
    ("mint1t", made.mint1t(images=[None, FIRST, FIRST]), "not_aligned"),
    ("mint1t", made.mint1t(texts=7), "wrong_type"),
    ("mmc4", made.mmc4(text_list=[]), "no_text"),
    ("mmc4", made.mmc4(image_info=[{"raw_url": FIRST, "matched_text_index": 3}]), "bad_index"),
    ("mmc4", made.mmc4(image_info=[{"raw_url": FIRST, "matched_text_index": True}]), "bad_index"),
    ("mmc4", made.mmc4(image_info=[7]), "wrong_type"),
    ("mmc4", made.mmc4(image_info=[{"matched_text_index": 0, "image_base64": "?"}]), "broken_image"),
    ("mmc4", made.mmc4(url=None), "no_url"),
    ("omnicorpus", made.omnicorpus(metadata=[{}, {}]), "lengths_differ"),
    ("omnicorpus", made.omnicorpus(general_metadata=7), "wrong_type"),
]


@pytest.mark.parametrize(("layout", "row", "reason"), BROKEN)
def test_a_broken_row_costs_itself(layout: str, row: dict[str, Any], reason: str) -> None:
    with pytest.raises(RowError) as caught:
        document(layout, row)
    assert caught.value.reason == reason


@pytest.mark.parametrize("text", ["a", "a\n\nb", "\n\na\n\n\n\nb\n\n", "a\n\n \n\nb", "\n\n", "a\n\n\nb"])
def test_paragraphs_joined_again_are_the_text(text: str) -> None:
    from obelics_pipeline.stages.rows.paragraphs import paragraphs

    assert "\n\n".join(node.text for node in paragraphs(text)) == text
