"""Commands that make or fetch the models of filters: fit, download."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from obelics_pipeline.cli.parser import Commands, Parser, positive, say, workers_of

if TYPE_CHECKING:
    from obelics_pipeline.fit.farm_detector.sources import Sources


def add_fit(commands: Commands) -> None:
    fit = commands.add_parser("fit", help="train a filter's model on your own pages or texts")
    models = fit.add_subparsers(required=True, metavar="MODEL", parser_class=Parser)
    _add_main_content(models)
    _add_page_type(models)
    _add_fit_detector(models)
    _add_fit_farm_texts(models)
    _add_fit_chat_detector(models)
    _add_fit_heads(models)
    _add_fit_farm_heads(models)
    _add_fit_kenlm(models)
    _add_fit_classifier(models)
    _add_fit_flamingo(models)


def _add_main_content(models: Commands) -> None:
    main_content = models.add_parser("main-content", help="train the model that finds the main content of a page")
    _add_pages(main_content, "labels of the main content, one page a line")
    main_content.set_defaults(command=_fit_main_content)


def _fit_main_content(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.main_content import fit_main_content

    return _fit_on_pages(arguments, fit_main_content)


def _add_page_type(models: Commands) -> None:
    page_type = models.add_parser("page-type", help="train the model that tells the kind of a page (page_type)")
    _add_pages(page_type, 'lines {"url": …, "page_type": …}, or with warc and offset in place of url')
    page_type.set_defaults(command=_fit_page_type)


def _fit_page_type(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.page_type import fit_page_type

    return _fit_on_pages(arguments, fit_page_type)


def _add_pages(command: argparse.ArgumentParser, gold: str) -> None:
    """Annotated pages to learn from, and the output."""
    command.add_argument("--input", nargs="+", required=True, metavar="INPUT", help="WARC files, as for run")
    command.add_argument("--gold", type=Path, required=True, metavar="FILE.jsonl", help=gold)
    command.add_argument("--output", type=Path, required=True, metavar="MODEL.json", help="output file")
    command.add_argument(
        "--folds", type=positive, default=5, metavar="N", help="folds of cross-validation (default: 5)"
    )
    command.add_argument("--workers", type=positive, metavar="N", help="processes (default: one per CPU core)")


def _fit_on_pages(arguments: argparse.Namespace, fit: Callable[..., None]) -> int:
    """Fit a model on what `_add_pages` asks for."""
    fit(
        arguments.input,
        arguments.gold,
        arguments.output,
        folds=arguments.folds,
        workers=workers_of(arguments),
        say=say,
    )
    return 0


def _add_fit_detector(models: Commands) -> None:
    detector = models.add_parser("detector", help="train the model that detects generated text (farm_score)")
    _add_sources(detector)
    detector.add_argument("--steps", type=positive, default=6000, metavar="N", help="training steps (default: 6000)")
    detector.add_argument(
        "--documents",
        type=positive,
        default=12000,
        metavar="N",
        help="documents that the forest is trained on (default: 12000)",
    )
    detector.add_argument(
        "--words", type=positive, default=24000, metavar="N", help="words that it knows, at most (default: 24000)"
    )
    detector.add_argument(
        "--channels",
        type=positive,
        default=64,
        metavar="N",
        help="width of the network (default: 64; 32 makes a file of half the size in a third of the time)",
    )
    detector.add_argument("--workers", type=positive, metavar="N", help="threads (default: one per CPU core)")
    detector.add_argument(
        "--network",
        type=Path,
        metavar="MODEL.npz",
        help="a detector whose network is kept, so that only the forest is trained; PyTorch is not needed",
    )
    detector.add_argument(
        "--forest-without-each",
        action="store_true",
        help="also measure how well the forest finds each family it was not trained on: one more fit per family",
    )
    detector.add_argument("--output", type=Path, required=True, metavar="MODEL.npz", help="output file")
    detector.set_defaults(command=_fit_detector)


def _fit_detector(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.farm_detector.command import fit_detector

    fit_detector(
        _sources(arguments),
        arguments.output,
        language=arguments.language,
        steps=arguments.steps,
        documents=arguments.documents,
        threads=workers_of(arguments),
        say=say,
        words=arguments.words,
        channels=arguments.channels,
        forest_without_each=arguments.forest_without_each,
        keep=arguments.network,
    )
    return 0


def _add_fit_farm_texts(models: Commands) -> None:
    texts = models.add_parser(
        "farm-texts",
        help="write honest and generated texts, to train a classifier on",
        description="Write honest.jsonl.gz and generated.jsonl.gz, half of the documents each, as input of obelics fit "
        "classifier. PyTorch and LightGBM are not needed.",
    )
    _add_sources(texts)
    texts.add_argument(
        "--documents",
        type=positive,
        default=24000,
        metavar="N",
        help="documents of both kinds together (default: 24000)",
    )
    texts.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="output folder")
    texts.set_defaults(command=_fit_farm_texts)


def _fit_farm_texts(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.farm_detector.farm_texts import make_farm_texts

    make_farm_texts(_sources(arguments), arguments.output, arguments.documents, say)
    return 0


def _add_sources(command: argparse.ArgumentParser) -> None:
    """What honest and generated documents are made of."""
    command.add_argument("--language", default="en", metavar="CODE", help="language of the texts (default: en)")
    command.add_argument(
        "--trusted", nargs="+", required=True, metavar="CORPUS",
        help='texts that people wrote, as for kenlm: lines {"text": …}, or Parquet; generated texts are made from them',
    )  # fmt: skip
    command.add_argument(
        "--unusual", nargs="+", default=[], metavar="CORPUS",
        help="honest texts that look unusual (poems, recipes, law, code), so that the model learns to keep them",
    )  # fmt: skip
    command.add_argument(
        "--thesaurus",
        type=Path,
        metavar="FILE.dat",
        help="synonyms in the format of LibreOffice (default: taken from the texts)",
    )
    command.add_argument(
        "--dictionary", nargs=2, type=Path, action="append", default=[], metavar=("THERE.index", "BACK.index"),
        help="a pair of FreeDict dictionaries, to translate there and back; may be repeated; where there is only BACK, "
        "give it twice",
    )  # fmt: skip
    command.add_argument(
        "--wordnet",
        type=Path,
        metavar="FOLDER",
        help="WordNet 3's data and index files, for families with its synonyms",
    )
    command.add_argument(
        "--glossary", nargs="+", type=Path, default=[], metavar="FILE.index",
        help="FreeDict dictionaries to English, for the second implementation of translation",
    )  # fmt: skip
    command.add_argument(
        "--leave-out", nargs="*", default=["second"], metavar="FAMILY",
        help="families of generated text to leave out of the training, which then judge; first or second names a whole "
        "implementation of them, and no name leaves out nothing (default: second)",
    )  # fmt: skip


def _sources(arguments: argparse.Namespace) -> Sources:
    from obelics_pipeline.fit.farm_detector.sources import Sources

    dictionaries = [(there, back) for there, back in arguments.dictionary]
    return Sources(
        arguments.trusted,
        arguments.unusual,
        arguments.thesaurus,
        dictionaries,
        arguments.leave_out,
        arguments.wordnet,
        arguments.glossary,
        arguments.language,
    )


def _add_fit_chat_detector(models: Commands) -> None:
    detector = models.add_parser(
        "chat-detector",
        help="train the model that detects text of chat models (chat_score)",
        description="It prints what is found of each generator and domain when neither was seen in training.",
    )
    detector.add_argument(
        "--input", nargs="+", required=True, metavar="CORPUS",
        help='lines {"text": …, "label": …, "generator": …, "domain": …}; label 1 is a machine, 0 a person; '
        "a machine's text without a domain gets that of the people whose words are most like its own",
    )  # fmt: skip
    detector.add_argument(
        "--trusted", nargs="+", default=[], metavar="CORPUS",
        help="texts that people wrote and the KenLM model was trained on: only word habits learn from them",
    )  # fmt: skip
    detector.add_argument(
        "--generators",
        nargs="+",
        default=[],
        metavar="NAME",
        help="generators of label 1 to learn from (default: all)",
    )
    detector.add_argument(
        "--kenlm", metavar="FOLDER", help="folder of the KenLM model, as fit kenlm writes it (default: the package's)"
    )
    detector.add_argument(
        "--without-kenlm", action="store_true", help="learn from words and style alone: a head of farm_score"
    )
    detector.add_argument("--language", default="en", metavar="CODE", help="language of the texts (default: en)")
    detector.add_argument(
        "--unseen", type=Path, metavar="FILE.jsonl",
        help='write lines {"id", "score"} of the texts that have an "id", by models that saw neither their generator '
        "nor their domain",
    )  # fmt: skip
    detector.add_argument("--output", type=Path, required=True, metavar="MODEL.npz", help="output file")
    detector.set_defaults(command=_fit_chat_detector)


def _fit_chat_detector(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.chat_detector.command import fit_chat_detector
    from obelics_pipeline.models.perplexity import SHIPPED

    fit_chat_detector(
        arguments.input,
        arguments.trusted,
        arguments.output,
        kenlm=None if arguments.without_kenlm else arguments.kenlm or SHIPPED,
        generators=arguments.generators,
        language=arguments.language,
        unseen=arguments.unseen,
        say=say,
    )
    return 0


def _add_fit_heads(models: Commands) -> None:
    _add_head(
        models,
        "wording-detector",
        "train the model that detects exchanged words (wording_score)",
        "It learns from translation word by word and from words out of their order, and prints what it finds of the "
        "other families, none of which it has seen. PyTorch is not needed.",
        _fit_wording_detector,
    )
    _add_head(
        models,
        "phrasing-detector",
        "train the model that detects exchanged words, chains and forms in any language",
        "It learns from exchanged and moved words, chains and forms, in any language that parts words by blanks, and "
        "prints what it finds of the other families, none of which it has seen. PyTorch is not needed.",
        _fit_phrasing_detector,
    )
    _add_head(
        models,
        "coherence-detector",
        "train the model that detects sentences that do not follow from each other",
        "It learns which sentences people write after which, and from sentences and phrases that programs put "
        "together. It prints what it finds of the other families. PyTorch is not needed.",
        _fit_coherence_detector,
    )


def _add_head(models: Commands, name: str, made: str, told: str, command: Callable[[argparse.Namespace], int]) -> None:
    """A command that makes a detector which learns from some families; `made` and `told` are its help."""
    detector = models.add_parser(name, help=made, description=told)
    _add_sources(detector)
    detector.add_argument(
        "--documents",
        type=positive,
        default=12000,
        metavar="N",
        help="documents that the forest is trained on (default: 12000)",
    )
    detector.add_argument("--output", type=Path, required=True, metavar="MODEL.npz", help="output file")
    detector.set_defaults(command=command, leave_out=[])


def _fit_wording_detector(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.farm_detector.head import fit_head
    from obelics_pipeline.fit.wording_detector.recipes import WORDING

    fit_head(WORDING, _sources(arguments), arguments.output, arguments.documents, say)
    return 0


def _fit_phrasing_detector(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.farm_detector.head import fit_head
    from obelics_pipeline.fit.wording_detector.recipes import PHRASING

    fit_head(PHRASING, _sources(arguments), arguments.output, arguments.documents, say)
    return 0


def _fit_coherence_detector(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.coherence_detector.command import fit_coherence_detector

    fit_coherence_detector(_sources(arguments), arguments.output, arguments.documents, say)
    return 0


def _add_fit_farm_heads(models: Commands) -> None:
    heads = models.add_parser(
        "farm-heads",
        help="find how far each head of farm_score is shifted for texts of each length",
        description="It cuts honest texts to several lengths and shifts each head so that as many of them pass, "
        "and one in 250 is over 0.95 in any head. Do this after a detector of farm_score was made anew.",
    )
    heads.add_argument(
        "--honest", nargs="+", required=True, metavar="CORPUS",
        help='texts that people wrote: lines {"text": …, "source": …}, or Parquet; each source has the same weight',
    )  # fmt: skip
    heads.add_argument(
        "--detectors", nargs="+", default=[], metavar="MODEL.npz", help="detectors in place of those of the package"
    )
    heads.add_argument("--language", default="en", metavar="CODE", help="language of the texts (default: en)")
    heads.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="of mixes; other languages in it stay"
    )
    heads.set_defaults(command=_fit_farm_heads)


def _fit_farm_heads(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.farm_heads import fit_farm_heads

    fit_farm_heads(arguments.honest, arguments.detectors, arguments.output, arguments.language, say)
    return 0


def _add_fit_kenlm(models: Commands) -> None:
    kenlm = models.add_parser("kenlm", help="train the KenLM language model of the filter perplexity")
    kenlm.add_argument(
        "--input", nargs="+", required=True, metavar="CORPUS",
        help='lines {"text": …} (.jsonl, .jsonl.gz), or Parquet with the OBELICS columns',
    )  # fmt: skip
    kenlm.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="output folder, to be set as options.folder of the filter",
    )
    kenlm.add_argument("--language", default="en", metavar="CODE", help="language of the corpus (default: en)")
    kenlm.add_argument("--order", type=positive, default=5, metavar="N", help="longest n-gram, 2 to 6 (default: 5)")
    kenlm.add_argument(
        "--pieces", type=positive, default=32_000, metavar="N", help="SentencePiece tokens at most (default: 32000)"
    )
    kenlm.add_argument(
        "--prune", type=int, nargs="+", default=[0], metavar="N",
        help="drop n-grams seen N times or fewer, one N per length from 1 (default: 0, drop none)",
    )  # fmt: skip
    kenlm.add_argument(
        "--memory",
        default="2G",
        metavar="SIZE",
        help="memory for sorting; the result does not depend on it (default: 2G)",
    )
    kenlm.add_argument(
        "--programs", type=Path, metavar="FOLDER", help="folder of lmplz and build_binary (default: found on the PATH)"
    )
    kenlm.set_defaults(command=_fit_kenlm)


def _fit_kenlm(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.kenlm import KenlmSettings, fit_kenlm

    fit_kenlm(
        arguments.input,
        arguments.output,
        KenlmSettings(arguments.language, arguments.order, arguments.pieces, tuple(arguments.prune)),
        say,
        memory=arguments.memory,
        programs=arguments.programs,
    )
    return 0


def _add_fit_classifier(models: Commands) -> None:
    classifier = models.add_parser(
        "classifier", help="train the model of the filter quality_score on good and bad texts"
    )
    corpus = 'lines {"text": …, "source"?: …} (.jsonl, .jsonl.gz), or Parquet with the OBELICS columns'
    classifier.add_argument("--positive", nargs="+", required=True, metavar="FILE", help=f"good texts: {corpus}")
    classifier.add_argument(
        "--negative", nargs="+", required=True, metavar="FILE", help="bad texts, in the same formats"
    )
    classifier.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="MODEL.ftz",
        help="output file, to be set as options.model of the filter",
    )
    classifier.add_argument(
        "--features", type=positive, default=50_000, metavar="N",
        help="words and word pairs in the model; they set its size (default: 50000)",
    )  # fmt: skip
    classifier.set_defaults(command=_fit_classifier)


def _fit_classifier(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.classifier import fit_classifier

    fit_classifier(arguments.positive, arguments.negative, arguments.output, say, arguments.features)
    return 0


def _add_fit_flamingo(models: Commands) -> None:
    flamingo = models.add_parser(
        "flamingo",
        help="train a small Flamingo from scratch, in minutes on a CPU",
        description="Train a small vision-language model from random weights on documents with images, for the "
        "flamingo columns. It serves tests, the demo and measurements; a model for real use comes from obelics train.",
    )
    flamingo.add_argument(
        "--documents", nargs="+", required=True, metavar="DOCUMENTS",
        help='folders of finished runs; Parquet with the OBELICS columns; lines {"texts", "images"} or {"text"}',
    )  # fmt: skip
    flamingo.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="with files as DOCUMENTS: their images, each file named by the sha256 of its URL",
    )
    flamingo.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="output folder; it must be new")
    flamingo.add_argument("--steps", type=positive, default=300, metavar="N", help="training steps (default: 300)")
    flamingo.add_argument(
        "--layers", type=positive, default=4, metavar="N", help="layers of the language model (default: 4)"
    )
    flamingo.add_argument(
        "--width", type=positive, default=128, metavar="N", help="width of the model, a multiple of 32 (default: 128)"
    )
    flamingo.add_argument(
        "--words", type=positive, default=2000, metavar="N", help="tokens of its vocabulary (default: 2000)"
    )
    flamingo.add_argument("--workers", type=positive, metavar="N", help="threads (default: one per CPU core)")
    flamingo.set_defaults(command=_fit_flamingo)


def _fit_flamingo(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.flamingo.command import fit_flamingo
    from obelics_pipeline.fit.flamingo.shape import Shape

    fit_flamingo(
        arguments.documents,
        arguments.images,
        arguments.output,
        Shape(arguments.layers, arguments.width, arguments.words),
        arguments.steps,
        workers_of(arguments),
        say,
    )
    return 0


def add_download(commands: Commands) -> None:
    download = commands.add_parser("download", help="download a published KenLM model for the filter perplexity")
    download.add_argument(
        "name", metavar="OWNER/REPOSITORY/FOLDER", help="folder on the Hugging Face hub, such as edugp/kenlm/wikipedia"
    )
    download.add_argument(
        "--language", nargs="+", required=True, metavar="CODE", help="languages, such as en de; each is several GB"
    )
    download.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="output folder, to be set as options.folder of the filter",
    )
    download.add_argument(
        "--revision", default="main", metavar="NAME", help="branch or commit; a commit never changes (default: main)"
    )
    download.set_defaults(command=_download)


def _download(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.published import download_kenlm

    download_kenlm(arguments.name, arguments.language, arguments.output, arguments.revision, say)
    return 0
