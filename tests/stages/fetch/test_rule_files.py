"""Rule files lie on the disk; as many are held parsed as memory is meant for them."""

from collections import Counter
from io import BytesIO

import pytest

from obelics_pipeline.stages.fetch import rule_files
from obelics_pipeline.stages.fetch.rule_files import RuleFiles


def test_a_file_is_parsed_again_where_others_took_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_files, "PARSED_BYTES", 25)
    parsed = Counter[bytes]()

    def parse(content: bytes) -> str:
        parsed[content] += 1
        return content.decode()

    contents = [f"rules of {n}.".encode() for n in range(3)]  # of eleven bytes: two have room
    files = RuleFiles(BytesIO())
    first, second, third = (files.add(content, parse) for content in contents)
    said = [file.rules().encode() for file in (third, second, first, second)]
    assert said == [contents[2], contents[1], contents[0], contents[1]]
    assert parsed == {contents[0]: 2, contents[1]: 1, contents[2]: 1}


def test_a_file_of_any_size_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_files, "PARSED_BYTES", 1)
    files = RuleFiles(BytesIO())
    assert files.add(b"long", len).rules() == 4
    assert files.add(b"", len).rules() == 0
