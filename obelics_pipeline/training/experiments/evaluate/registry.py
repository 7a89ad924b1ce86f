"""Few-shot tasks that papers report, by name: what they ask for, with how many shots, in which words.

A folder of a task (`task.read_task`) that names one of these need say no more. The data are not shipped.
"""

from __future__ import annotations

from dataclasses import dataclass

SHOTS = (0, 4, 8, 16, 32)  # as Flamingo, OpenFlamingo and IDEFICS report them
CAPABILITIES = (
    "caption", "classification", "colour", "counting", "detail", "dialogue", "hallucination", "knowledge", "matching",
    "ocr", "question", "reasoning", "text",
)  # fmt: skip
QUESTION = (
    "Question: {question} Answer: {answer}",
    "Q: {question} A: {answer}",
    "{question} The answer is {answer}",
)
CAPTION = ("Caption: {answer}", "A picture of {answer}", "The image shows {answer}")
LABEL = ("{question} {answer}", "Text: {question} Label: {answer}", "{question} This is {answer}")


@dataclass(frozen=True)
class Known:
    """A task as it is usually asked. Every template ends with the answer: a prompt's wording moves scores by points."""

    name: str
    capabilities: tuple[str, ...]
    templates: tuple[str, ...]
    shots: tuple[int, ...] = SHOTS


KNOWN = {
    known.name: known
    for known in (
        Known("VQAv2", ("question", "counting", "detail", "hallucination"), QUESTION),
        Known("OKVQA", ("question", "knowledge"), QUESTION),
        Known("TextVQA", ("question", "ocr"), QUESTION),
        Known("VizWiz", ("question", "detail"), QUESTION),
        Known("ScienceQA", ("question", "knowledge", "reasoning"), QUESTION),
        Known("VisDial", ("question", "dialogue"), QUESTION),
        Known("TextCaps", ("caption", "ocr"), CAPTION),
        Known("COCO", ("caption", "hallucination"), CAPTION),
        Known("NoCaps", ("caption", "detail"), CAPTION),
        Known("Flickr30k", ("caption",), CAPTION),
        Known("Winoground", ("matching", "detail"), CAPTION, (0,)),
        Known("HatefulMemes", ("classification", "ocr"), LABEL),
        Known("RenderedSST2", ("classification", "ocr"), LABEL),
    )
}
