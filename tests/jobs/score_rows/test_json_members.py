import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.jobs.score_rows.json_members import append_members, replace_members

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_keys = st.sampled_from(["a", "b", "{", '"', "\\", "ü"]) | st.text(max_size=3)
_objects = st.dictionaries(_keys, _values, max_size=4)
_members = st.dictionaries(_keys, _values, max_size=3)
_dumped = st.sampled_from([{}, {"indent": 1}, {"separators": (" ,\t", "\r\n: ")}, {"ensure_ascii": False}])


@given(_objects, _members, _dumped)
def test_replaced_members_are_those_of_a_merged_object_in_its_order(
    value: dict[str, Any], members: dict[str, Any], how: dict[str, Any]
) -> None:
    text = replace_members(json.dumps(value, **how), {key: json.dumps(x) for key, x in members.items()})
    assert list(json.loads(text).items()) == list((value | members).items())


@given(_objects, _members, _dumped)
def test_appended_members_come_last_and_nothing_before_them_changes(
    value: dict[str, Any], members: dict[str, Any], how: dict[str, Any]
) -> None:
    new = {key: x for key, x in members.items() if key not in value}
    before = json.dumps(value, **how)
    text = append_members(before, {key: json.dumps(x) for key, x in new.items()})
    assert list(json.loads(text).items()) == list((value | new).items())
    assert text.startswith(before.rstrip("}").rstrip() if value else "{")


def test_numbers_and_escapes_stay_as_they_were_written() -> None:
    text = '{"n": 1.00, "big": 1e400, "long": 123456789012345678901234567890, "s": "\\ud800\\u00e9", "x": NaN, "y": 1}'
    assert append_members(text, {"z": "0.5"}) == text[:-1] + ',"z":0.5}'
    assert replace_members(text, {"y": "0.5"}) == text.replace('"y": 1', '"y": 0.5')


def test_a_key_that_is_there_twice_is_replaced_twice() -> None:
    assert replace_members('{"a":1,"b":2,"a":3}', {"a": "null"}) == '{"a":null,"b":2,"a":null}'
