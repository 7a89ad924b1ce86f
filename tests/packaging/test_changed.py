"""What `make check` tests of a change: the mirrors of the files that it touches."""

import pytest

from tests.changed import ROOT, mirror_of


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("obelics_pipeline/net/client.py", "tests/net/test_client.py"),
        ("filters/rule.py", "tests/filters/test_rule.py"),
        ("obelics_pipeline/filters/rule.py", "tests/filters/test_rule.py"),
        ("benchmarks/prove.py", "tests/benchmarks/test_prove.py"),
        ("obelics_pipeline/net/no_mirror.py", "tests/net"),
        ("obelics_pipeline/inspect/card/page.html", "tests/inspect/card"),
        ("obelics_pipeline/inspect/no_such_folder/page.py", "tests/inspect"),
        ("obelics_pipeline/no_such_room/page.py", None),
        ("configs/default.yaml", "tests/core/config"),
        ("constraints.txt", "tests/packaging/test_dependencies.py"),
        ("tests/net/test_client.py", "tests/net/test_client.py"),
        ("tests/net/test_deleted.py", None),
        ("tests/faults/runs.py", "tests/faults"),
        ("tests/conftest.py", None),
        ("README.md", None),
    ],
)
def test_a_changed_file_has_the_tests_that_mirror_it(path: str, tests: str | None) -> None:
    assert mirror_of(path) == tests
    assert tests is None or (ROOT / tests).exists()
