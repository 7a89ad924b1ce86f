"""A stage is one value: nothing but its own folder and the tuple of stages knows one by its name."""

import ast
from collections.abc import Iterator

from obelics_pipeline.jobs.stages import STAGES, names_of
from tests.faults.runs import ROOT

SOURCES = ROOT / "obelics_pipeline"
NAMES = set(names_of(STAGES))

# Where a word that is also the name of a stage may stand: a path, the words, and what they mean there.
ALLOWED = [
    ("__init__.py", "extract score", "functions of the library"),
    ("beam_jobs/drawing.py", "extract", "an example of a folder, in a drawing of a pipeline"),
    ("cli/curate.py", "score", "the command obelics score"),
    ("cli/publish.py", "consent", "the command obelics consent"),
    ("core/config/own_stages.py", "site", "where a config puts a stage that says nothing: a promise to configs"),
    ("core/config/run.py", "score", "a section of the config"),
    ("core/folder.py", "consent dedup extract fetch", "the layout of a run's folder"),
    ("core/shards/", "shard", "a column of the index"),
    ("demo/pages.py", "site", "the folder of the demo's pages"),
    ("filters/measuring.py", "score", "the method of a filter"),
    ("fit/chat_detector/command.py", "score", "a key of a line of scores"),
    ("forget/look_ups.py", "shard", "a column of a look-up"),
    ("forget/search.py", "extract", "the folder of extracted documents, which name all that is looked for"),
    ("forget/shards.py", "shard", "a column of the index"),
    ("inspect/card/", "extract shard", "a word of Croissant, a column, a noun"),
    ("inspect/consent_again/answer.py", "consent", "a key of a document's metadata"),
    ("inspect/published/", "consent extract", "a key of a document's metadata, a word of Croissant"),
    ("inspect/check/sample.py", "dedup fetch score", "sections of the config that a sample sets"),
    ("inspect/explain/in_run.py", "shard", "a column of the index"),
    ("inspect/map/", "site", "a column of a run table: the domain of a page"),
    ("inspect/report/", "score site", "columns of a run table and of examples"),
    ("inspect/run_tables/documents.py", "site", "a column of a run table"),
    ("inspect/tune/", "dedup site", "a section of the config, a column of a run table"),
    ("jobs/finished.py", "shard", "a column of the index"),
    ("jobs/score_rows/", "fetch score", "obelics score, which has no run: its unit, its option, a folder of images"),
    (
        "stages/dedup/deduplication.py",
        "dedup-images shard",
        "comparing has steps in three stages",
    ),
    ("stages/extract/stage.py", "consent", "a key of a document's metadata"),
    ("stages/rows/row_document.py", "consent", "a key of a document's metadata"),
    ("stages/shard/stage.py", "assemble", "units of two stages, which take the same documents"),
    ("training/", "shard", "a column of the index and of plans"),
]

# Who may import the value of a stage to treat it specially.
IMPORTS = [
    ("jobs/stages.py", "the tuple"),
    ("inspect/check/sample.py", "the sample is made of units of extract"),
    ("inspect/dry_run/dry_run.py", "what a run knows stands in for extract, fetch, score and the tars of shard"),
    ("inspect/report/funnel.py", "of an unfinished run: what fetch knows of addresses so far"),
]


def sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in (SOURCES, *(path for path in SOURCES.iterdir() if path.is_symlink())):
        for path in folder.rglob("*.py"):
            yield str(path.relative_to(SOURCES)), ast.parse(path.read_text(encoding="utf-8"))


def own_folder(name: str) -> str:
    return f"stages/{name.replace('-', '_')}/"


def named() -> set[tuple[str, str]]:
    """Module and name of each stage that stands in it as a string, outside its own folder."""
    return {
        (module, str(node.value))
        for module, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in NAMES and not module.startswith(own_folder(str(node.value)))
    }


def importing() -> set[str]:
    """The modules that import the value of a stage, outside the stages."""
    values = {f"obelics_pipeline.{own_folder(name).replace('/', '.')}value" for name in NAMES}
    packages = {value.removesuffix(".value") for value in values}
    return {
        module
        for module, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not module.startswith("stages/")
        if node.module in values or (node.module in packages and "value" in [alias.name for alias in node.names])
    }


def test_no_module_names_a_stage_but_where_the_word_means_something_else() -> None:
    allowed = [(path, word) for path, words, _ in ALLOWED for word in words.split()]
    found = named()
    strange = {(module, name) for module, name in found if not _covers(allowed, module, name)}
    assert strange == set(), "what does it want to know? put that on the Stage, and ask the stages"
    unused = [one for one in allowed if one[1] in NAMES and not any(_covers([one], *place) for place in found)]
    assert unused == []


def test_few_modules_import_a_stage_to_treat_it_specially() -> None:
    assert importing() == {module for module, _ in IMPORTS}


def test_each_stage_has_its_own_folder() -> None:
    assert all((SOURCES / own_folder(name) / "value.py").is_file() for name in NAMES)


def _covers(allowed: list[tuple[str, str]], module: str, name: str) -> bool:
    places = [path for path, word in allowed if word == name]
    return any(module == path or (path.endswith("/") and module.startswith(path)) for path in places)
