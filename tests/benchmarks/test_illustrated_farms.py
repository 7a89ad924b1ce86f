"""Documents to judge a loss by: pictures stand by what they show, and damage leaves them where they were."""

from __future__ import annotations

from random import Random

from benchmarks import illustrated_farms as farms
from obelics_pipeline.demo.pictures import SCENE_OF, plan
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

SEA = "The ferry leaves the harbour at six. The boat is late when the tide is low. " * 8
SKY = "The moon is bright. A comet passes a star once in a hundred years, and nobody sees it. " * 7
PLAIN = "He said that it was so. They agreed with him, and then they went on as before. " * 8
TEXT = f"{SEA.strip()}\n\n{SKY.strip()}\n\n{PLAIN.strip()}"


def test_a_passage_gets_a_picture_of_what_it_names_most() -> None:
    assert [farms.picture_of(text, "1") is None for text in (SEA, SKY, PLAIN)] == [False, False, True]
    for text, scene in ((SEA, "sea"), (SKY, "night_sky")):
        url = farms.picture_of(text, "1")
        drawn = plan(url or "")
        assert drawn is not None and drawn.scene == scene and drawn.size == (farms.SIDE, farms.SIDE)
    assert SCENE_OF["ferry"] == "sea"


def test_an_untouched_document_reads_as_it_was_with_each_picture_before_its_passage() -> None:
    (document,) = farms.illustrated(0, TEXT)
    row = farms.interleaved(document.text, document.shares())
    assert [i is None for i in row["images"]] == [t is not None for t in row["texts"]]
    assert " ".join(" ".join(t for t in row["texts"] if t).split()) == " ".join(document.text.split())
    assert " ".join(TEXT.split()).startswith(" ".join(document.text.split()))
    assert row["images"][::2] == list(document.pictures)
    assert [(text or "").split() for text in row["texts"][1::2]] == [passage.split() for passage in document.passages]


def test_every_generator_keeps_all_pictures_in_their_order() -> None:
    (document,) = farms.illustrated(0, TEXT)
    trusted = TrustedTexts([TEXT, SEA + SKY, PLAIN + SEA] * 3)
    wanted = [url for url in document.pictures if url]
    for name, make in farms.generators(trusted, Thesaurus.of_texts(trusted.texts)).items():
        row = farms.interleaved(make(document.text, Random(1)), document.shares())
        assert [url for url in row["images"] if url] == wanted, name
        assert any(row["texts"]), name


def test_exchanged_pictures_are_of_another_document_and_every_run_makes_the_same_rows() -> None:
    documents = [d for number in range(60) for d in farms.illustrated(number, TEXT)]
    made = list(farms.judged_rows(documents, TrustedTexts([TEXT] * 9), Thesaurus.of_texts([TEXT])))
    own = {d.name: {url for url in d.pictures if url} for d in documents}
    exchanged = [row for row in made if row["generator"] == "images_exchanged"]
    assert exchanged
    for row in exchanged:
        assert not own[row["id"].partition("-")[2]] & {url for url in row["images"] if url}
    assert made == list(farms.judged_rows(documents, TrustedTexts([TEXT] * 9), Thesaurus.of_texts([TEXT])))
