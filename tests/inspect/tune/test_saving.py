"""A tuned config is the file that it came from, letter by letter, but for the values that differ."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.config.yaml_file import bundled_configs
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.tune.saving import changes, edited, save

SETTINGS = [
    "filters.document.word_count.min=20",
    "filters.document.word_count.max=900",
    "filters.document.stopword_ratio.languages.en={min: 0.2}",
    "filters.document.stopword_ratio.languages.uk={min: 0.05}",
    "filters.paragraph.word_count.min=5",
    "images.min_side=200",
    "dedup.text.threshold=0.7",
    "language.min_score=0.35",
    "site.document.farm_score_in_site={max: 0.5}",
    "shard.target_bytes=1000000",
]


@pytest.mark.parametrize("name", ["default", "obelics"])
def test_only_the_lines_of_changed_values_change(name: str, tmp_path: Path) -> None:
    source = (bundled_configs() / f"{name}.yaml").read_text()
    original, tuned = load_config(name), load_config(name, SETTINGS)
    save(tmp_path / "tuned.yaml", source, tuned, original)
    before, after = source.splitlines(), (tmp_path / "tuned.yaml").read_text().splitlines()
    assert load_config(str(tmp_path / "tuned.yaml")) == tuned
    lost = [line for line in before if line not in after]
    assert 0 < len(lost) <= len(SETTINGS)
    comments = [line.partition("#")[2] for line in lost if "#" in line]
    assert all(any(comment in line for line in after) for comment in comments)
    assert [line for line in after if line in before] == [line for line in before if line in after]


def test_a_bound_is_added_to_its_line_and_taken_away_by_null() -> None:
    text = "filters:\n  document:\n    word_count: { min: 10 } # words\n"
    place = ("filters", "document", "word_count")
    assert edited(text, {(*place, "max"): 90.0}) == text.replace("min: 10", "min: 10, max: 90")
    assert edited(text, {(*place, "min"): None}) == text.replace("min: 10", "min: null")


def test_what_is_not_there_yet_is_added_at_the_end_of_its_block() -> None:
    text = "images:\n  min_side: 150 # pixels\n\n# the end\nfetch: {}\n"
    assert edited(text, {("images", "max_side"): 900}) == text.replace("# pixels\n", "# pixels\n  max_side: 900\n")
    assert edited(text, {("fetch", "threads"): 3}) == text.replace("{}", "{ threads: 3 }")
    assert (
        edited("score:\n", {("score", "document"): {"x": {"max": 1, "min": None}}})
        == "score: { document: {x: {max: 1}} }\n"
    )
    assert edited("# nothing yet\n", {("images", "min_side"): 9}) == "# nothing yet\nimages: {min_side: 9}\n"


def test_a_block_of_lines_is_left_to_a_person() -> None:
    with pytest.raises(UserError, match="line 2 begins a block of several lines; edit it by hand"):
        edited("languages:\n  en: { min: 1 }\n  de:\n    min: 2\n", {("languages",): None})


def test_a_file_that_is_there_is_replaced_only_if_asked(tmp_path: Path) -> None:
    target, original = tmp_path / "mine.yaml", load_config("default")
    target.write_text("mine")
    with pytest.raises(UserError, match=r"mine\.yaml: is there already"):
        save(target, "{}", original, original)
    assert target.read_text() == "mine"
    source = (bundled_configs() / "default.yaml").read_text()
    save(target, source, original, original, replace=True)
    assert target.read_text() == source
    assert list(tmp_path.iterdir()) == [target]


def test_no_link_is_followed(tmp_path: Path) -> None:
    original, mine, folder = load_config("default"), tmp_path / "mine", tmp_path / "shared"
    mine.write_text("mine")
    folder.mkdir()
    source = (bundled_configs() / "default.yaml").read_text()
    (folder / "tuned.yaml").symlink_to(mine)
    (folder / "dangling.yaml").symlink_to(tmp_path / "made")
    (folder / ".tuned.yaml.tmp").symlink_to(mine)
    for name in ("tuned.yaml", "dangling.yaml"):
        with pytest.raises(UserError, match="is there already"):
            save(folder / name, source, original, original)
        save(folder / name, source, original, original, replace=True)
        assert (folder / name).read_text() == source
        assert not (folder / name).is_symlink()
    assert mine.read_text() == "mine"
    assert not (tmp_path / "made").exists()


def test_what_would_be_read_otherwise_is_not_written(tmp_path: Path) -> None:
    original, tuned = load_config("default"), load_config("default", ["images.min_side=200"])
    with pytest.raises(UserError, match="would be read with other values; edit the file by hand"):
        save(tmp_path / "x.yaml", "images: { min_side: 10, max_side: 77 }\n", tuned, original)
    assert list(tmp_path.iterdir()) == []


KEYS = st.sampled_from(["a", "b", "c d", "é"])
LEAVES = st.one_of(
    st.integers(-5, 5), st.booleans(), st.text("ab: #'\"{}[]\n", max_size=6), st.lists(st.integers(), max_size=2)
)
TREES = st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=3), max_leaves=8)


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=3), KEYS, LEAVES)
def test_an_edited_text_says_what_was_asked_and_all_else_as_before(
    tree: dict[str, object], key: str, value: object
) -> None:
    text = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)
    if isinstance(tree.get(key), dict):
        return
    assert yaml.safe_load(edited(text, {(key,): value})) == {**tree, key: value}


def test_changes_are_named_by_their_place() -> None:
    before = {"a": {"b": 1, "c": 2}, "d": {"e": {"min": 1}}}
    assert changes(before, {"a": {"b": 1, "c": 3}, "d": {}}) == {("a", "c"): 3, ("d", "e"): None}
