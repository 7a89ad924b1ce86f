"""The public names and their signatures are a promise: who changes them changes this file, and CHANGELOG.md."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import obelics_pipeline as op
from tests.packaging.test_imports import HEAVY, loaded_after

FUNCTIONS = {
    "document_stage": "(*, name: 'str', title: 'str', judge: 'Judge', columns: 'Sequence[str]' = (), "
    "reasons: 'Mapping[str, str] | None' = None, version: 'str' = '', cost: 'Cost | None' = None) -> 'Stage'",
    "extract": "(html: 'str', url: 'str', config: 'RunConfig | None' = None) -> 'list[Document]'",
    "filter": "(kind: 'Kind', /) -> 'Kind'",
    "load_config": "(path: 'str', overrides: 'Sequence[str]' = ()) -> 'RunConfig'",
    "measure": "(document: 'Document', config: 'RunConfig | None' = None) -> 'Document'",
    "read_warc": "(path: 'str | Path', config: 'RunConfig | None' = None, "
    "on_skip: 'Callable[[Skipped], object] | None' = None) -> 'Iterator[Page]'",
    "run": "(config: 'str', inputs: 'Sequence[str]', output: 'str | Location', workers: 'int' = 1, ",
    "score": "(config: 'str', inputs: 'Sequence[str]', columns: 'Sequence[str]', output: 'str', workers: 'int | None', "
    "overrides: 'Sequence[str]' = (), images: 'str' = 'none', replace: 'bool' = False, "
    "open_engine: 'OpenEngine | None' = None, say: 'Say' = <built-in function print>, "
    "warn: 'Say' = <built-in function print>) -> 'int'",
}
METHODS = {
    "__init__": "(self, path: 'str | Path', storage_options: 'Mapping[str, Mapping[str, Any]] | None' = None) "
    "-> 'None'",
    "__len__": "(self) -> 'int'",
    "document": "(self, which: 'str') -> 'Document | None'",
    "documents": "(self) -> 'Iterator[Document]'",
    "images": "(self) -> 'Iterator[StoredImage]'",
    "to_arrow": "(self, columns: 'Sequence[str] | None' = None) -> 'pa.Table'",
    "to_pandas": "(self, columns: 'Sequence[str] | None' = None) -> 'pd.DataFrame'",
    "torch_dataset": "(self) -> 'RunDataset'",
}
FILTERS = {
    "build": "(name: 'str', options: 'Mapping[str, Any] | None' = None) -> 'OfAnyText'",
    "names": "() -> 'list[str]'",
}
FIELDS = {
    "Document": "doc_id url warc_filename warc_record_offset warc_record_length nodes general language scores reason",
}
TYPES = {"Document", "PageRefused", "Run", "Stage", "UserError"}
MODULES = {"filters"}


def signature(of: Callable[..., Any]) -> str:
    return str(inspect.signature(of))


def test_the_names_are_these() -> None:
    assert set(op.__all__) == {*FUNCTIONS, *TYPES, *MODULES}
    assert set(op.__all__) == {*op._MODULES, *MODULES}
    assert set(op.__all__) <= set(dir(op))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_this_signature(name: str) -> None:
    assert signature(getattr(op, name)).startswith(FUNCTIONS[name])


@pytest.mark.parametrize("name", METHODS)
def test_a_run_has_these_methods(name: str) -> None:
    assert signature(getattr(op.Run, name)) == METHODS[name]


def test_a_run_has_nothing_else() -> None:
    public = {name for name in vars(op.Run) if not name.startswith("_")}
    assert public == {name for name in METHODS if not name.startswith("_")}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_has_these_functions(name: str) -> None:
    assert signature(getattr(op.filters, name)) == FILTERS[name]


def test_a_document_has_these_fields() -> None:
    assert " ".join(vars(op.Document)["__dataclass_fields__"]) == FIELDS["Document"]


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'extrakt'; see obelics_pipeline\.__all__"):
        _ = op.extrakt
    with pytest.raises(ImportError):
        from obelics_pipeline import extrakt  # noqa: F401


def test_the_package_is_imported_without_anything_else() -> None:
    loaded = loaded_after("import obelics_pipeline")
    assert {name for name in loaded if name.startswith("obelics_pipeline.")} == set()
    assert loaded & {*HEAVY, "pydantic", "yaml", "rich", "upath"} == set()


def test_a_name_is_the_same_thing_whenever_it_is_asked_for() -> None:
    for name in op.__all__:
        assert getattr(op, name) is getattr(op, name)
    code = "import obelics_pipeline as op\nfirst = {n: getattr(op, n) for n in op.__all__}\n"
    packages = "import obelics_pipeline.cli.main, obelics_pipeline.jobs.main_job, obelics_pipeline.training\n"
    loaded_after(code + packages + "assert all(getattr(op, n) is first[n] for n in op.__all__)")
    loaded_after(
        packages
        + "import obelics_pipeline as op\nassert all(callable(getattr(op, n)) or n == 'filters' for n in op.__all__)"
    )
