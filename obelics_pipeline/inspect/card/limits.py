"""The known limits of a corpus, from its config and counts, for its card."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.inspect.card.contents import Contents
from obelics_pipeline.inspect.report.opened import Run

# Scores that are null in other languages, unless lists or detectors were given -> the languages that they know.
OF_SOME_LANGUAGES = {"farm_score": "de, en, es, fr, it, pt and ru", "flagged_word_ratio": "en"}


def known_limits(run: Run, contents: Contents) -> Iterator[str]:
    """Sentences, each of something that a reader of the card might otherwise believe."""
    yield from _of_reading(run)
    yield from _of_texts(run, contents)
    yield from _of_images(run)
    yield (
        "It is a part of the public web: what people there say of each other, wrongly or unkindly, is in it, and who "
        "does not write there is not."
    )


def _of_reading(run: Run) -> Iterator[str]:
    if run.sample is not None and run.sample < 1:
        yield (f"It is a sample: {run.sample_read} was read, and duplicates in the rest are not known.")
    if run.failed_units:
        yield f"{len(run.failed_units)} units of work failed; what they held is missing."
    if not run.config.reading.honour_noai:
        yield "Pages that ask not to be used for AI were not left out."


def _of_texts(run: Run, contents: Contents) -> Iterator[str]:
    config = run.config
    if not config.dedup.enabled:
        yield "Duplicates were not looked for."
    elif not config.dedup.text.enabled:
        yield "Only equal addresses and paragraphs count as duplicates; near duplicates of texts were not looked for."
    else:
        yield (
            f"Two texts are taken for duplicates from an estimated similarity of {config.dedup.text.threshold:g} on; "
            "what resembles less, such as the same news in other words, is there more than once."
        )
    others = [row.name for row in contents.languages if row.name not in ("en", "")]
    measured = [f"{name} ({known})" for name, known in OF_SOME_LANGUAGES.items() if name in config.filters.document]
    if others and measured:
        yield f"Scores that are null in languages they do not know: {', '.join(measured)}."
    if not config.personal_data.enabled:
        yield "E-mail addresses, phone numbers and other personal data were not looked for."
    else:
        yield "Personal data is found by its form: names, addresses and what a story tells of somebody stay."
        if config.personal_data.key_file is None:
            yield "The key of the pseudonyms is public: who guesses a value can see whether it was here."
    if not config.blocklists:
        yield "No list of domains that are known for what they show was applied."
    if "farm_score" not in config.filters.document:
        yield "Pages that a program wrote were not looked for."
    else:
        yield (
            "Pages that a program wrote were looked for by farm_score, which knows some ways of making them: it finds "
            "less than a half of those of other programs, some text of chat models, and hardly any of other models."
        )
    yield "Languages are told by a model, which is wrong more often for short texts and for rare languages."


def _of_images(run: Run) -> Iterator[str]:
    config = run.config
    if not config.fetch.enabled:
        yield "Images are addresses: whether they still lead to what stood there was not looked at."
        return
    if not config.fetch.robots_txt:
        yield "robots.txt was not asked when images were fetched."
    yield from _of_unsafe_images(run)


def _of_unsafe_images(run: Run) -> Iterator[str]:
    safety = run.config.image_safety
    if safety.classifier is None:
        yield "No classifier looked at the images: unsafe ones are among them, as on the web."
    else:
        yield (
            f"Images are called unsafe by a model, from a score above {safety.classifier.max:g} on; it misses some, "
            "and is wrong about others."
        )
    if not safety.known_abuse.lists:
        yield "Images were not compared with lists of known abuse material."
    if safety.metadata == "keep":
        yield "Image files have the metadata that they came with, such as where and when a photo was taken."
    if safety.faces is None:
        yield "Faces of people were not made unrecognisable."
