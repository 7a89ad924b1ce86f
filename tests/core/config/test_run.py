"""Every wrong config gets one line: what, where, which values are valid."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config.run import RunConfig, load_config, load_resolved
from obelics_pipeline.core.config.yaml_file import bundled_configs, differences, dump_config
from obelics_pipeline.core.errors import UserError


def refused(path: Path, text: str, *overrides: str) -> str:
    path.write_text(text)
    with pytest.raises(UserError) as error:
        load_config(str(path), overrides)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.yaml"


def test_an_unknown_key_names_the_valid_ones_and_the_nearest(path: Path) -> None:
    message = refused(path, "fetch: {thread: 3}")
    assert "unknown key fetch.thread" in message
    assert "did you mean threads?" in message


def test_an_unknown_key_of_a_threshold_is_found_in_its_depth(path: Path) -> None:
    message = refused(path, "filters: {document: {word_count: {mx: 3}}}")
    assert "filters.document.word_count.mx" in message
    assert "did you mean max?" in message


def test_yaml_cannot_make_objects(path: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert "YAML" in refused(path, f"fetch: !!python/object/apply:os.mkdir ['{made}']")
    assert "YAML" in refused(path, "{}", f"fetch.enabled=!!python/object/apply:os.mkdir ['{made}']")
    assert not made.exists()


def test_an_unknown_section_names_the_sections(path: Path) -> None:
    assert "did you mean filters?" in refused(path, "filter: {}")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fetch: {threads: -1}", "fetch.threads"),
        ("fetch: {threads: many}", "fetch.threads"),
        ("filters: {document: {word_count: {min: 3, max: 1}}}", "nothing would be kept"),
        ("extract: {rules: fancy}", "extract.rules"),
        ("language: {keep: english}", "language.keep"),
        ("language: {keep: []}", "language.keep.list[str]: List should have at least 1 item"),
        ("images: {formats: []}", "images.formats: Tuple should have at least 1 item"),
        ("images: {formats: [jpeg, jpg]}", "images.formats.1: Input should be 'jpeg', 'png', 'webp', 'gif', 'avif'"),
        ("images: {formats: [JPEG]}", "images.formats.0: Input should be 'jpeg', 'png'"),
        ("filters: {document: {word_count: {min: .nan}}}", "filters.document.word_count.min: Input should be a finite"),
        ("filters: {document: {word_count: {max: .inf}}}", "filters.document.word_count.max: Input should be a finite"),
        ("filters: {document: {word_count: {sample: [[1e999, 1]]}}}", "Input should be a finite"),
        ("- a list", "must be a mapping"),
        ("a: [1, 2", "not valid YAML"),
        ("fetch: 3", "fetch"),
    ],
)
def test_a_bad_value_is_named_with_its_place(path: Path, text: str, place: str) -> None:
    message = refused(path, text)
    assert place in message
    assert path.name in message


def test_a_missing_file_lists_the_bundled_configs() -> None:
    with pytest.raises(UserError, match=r"default.*obelics"):
        load_config("nowhere/none.yaml")


@pytest.mark.parametrize("override", ["fetch.threads", "=3", "fetch.threads.x=3", "fetch.threads=[1"])
def test_a_bad_override_is_one_line(path: Path, override: str) -> None:
    assert "--set" in refused(path, "fetch: {threads: 3}", override) or override == "fetch.threads.x=3"


def test_overrides_lie_over_the_file(path: Path) -> None:
    path.write_text("fetch: {threads: 3, per_host: 1}")
    config = load_config(str(path), ["fetch.threads=5", "filters.document.word_count={min: 10}"])
    assert (config.fetch.threads, config.fetch.per_host) == (5, 1)
    assert config.filters.document["word_count"].min == 10


def test_an_empty_file_is_the_defaults(path: Path) -> None:
    path.write_text("")
    assert load_config(str(path)) == RunConfig()


def test_bundled_configs_load_by_name_and_by_path() -> None:
    names = sorted(p.stem for p in bundled_configs().glob("*.yaml"))
    assert {"default", "obelics"} <= set(names)
    for name in names:
        assert load_config(name) == load_config(f"configs/{name}.yaml")


def test_what_is_written_reads_back_the_same(path: Path) -> None:
    config = load_config("default")
    path.write_text(dump_config(config))
    assert load_config(str(path)) == config
    assert differences(load_resolved(path), config) == []


def test_differences_name_each_changed_value(path: Path) -> None:
    old = load_config("default")
    path.write_text(dump_config(old))
    new = load_config("default", ["fetch.threads=7", "shard.target_bytes=1000"])
    found = differences(load_resolved(path), new)
    assert found == [
        f"fetch.threads: {old.fetch.threads} -> 7",
        f"shard.target_bytes: {old.shard.target_bytes} -> 1000",
    ]


def test_a_key_that_an_earlier_version_did_not_have_counts_as_its_default(path: Path) -> None:
    path.write_text(dump_config(load_config("default")))
    old = load_resolved(path)
    assert old.pop("stages") == []
    del old["fetch"]["ports"]
    assert differences(old, load_config("default")) == []
    assert differences(old, load_config("default", ["fetch.ports=[80]"])) == ["fetch.ports: None -> [80]"]


@pytest.mark.parametrize("without", ["fetch.enabled=false", "images.min_per_document=0"])
def test_open_flamingos_form_needs_images_and_the_error_says_which_keys(without: str) -> None:
    assert load_config("default", ["shard.format=open_flamingo"]).shard.format == "open_flamingo"
    with pytest.raises(
        UserError, match=r"config default.*: shard.format: open_flamingo .* fetch.enabled: true"
    ) as caught:
        load_config("default", ["shard.format=open_flamingo", without])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
