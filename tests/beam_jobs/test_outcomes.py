"""What a worker writes is what the driver reads."""

from pathlib import Path

import pytest

from obelics_pipeline.beam_jobs.outcomes import Answer, Outcome, Outcomes, from_json, to_json
from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import Damaged, Stopped, UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.engines.engine import Failure

MANIFEST = Manifest(
    "u", "s", {"data": {"name": "x", "sha256": "00", "bytes": 1}}, {"things": Ledger("things", 1, 1)}, {}
)


@pytest.mark.parametrize(
    "outcome", [MANIFEST, Failure("it died"), Failure("cut", ("a", "b")), Answer(["a", None, {"b": 1.5}])]
)
def test_an_outcome_comes_back_as_it_was(outcome: Outcome) -> None:
    assert from_json(to_json(outcome)) == outcome


@pytest.mark.parametrize(
    "error", [UserError("wrong"), Stopped("full"), Damaged("a", "b"), OSError(28, "No space left", "/x")]
)
def test_an_error_comes_back_with_its_kind(error: Exception) -> None:
    found = from_json(to_json(error))
    assert type(found) is type(error)
    assert str(found) == str(error)


def test_other_errors_say_what_they_were() -> None:
    assert str(from_json(to_json(ZeroDivisionError("by zero")))) == "ZeroDivisionError: by zero"


def test_the_first_attempt_stands_and_is_taken_once(tmp_path: Path) -> None:
    outcomes = Outcomes(tmp_path / "outcomes")
    assert list(outcomes.take()) == []
    outcomes.write("a", Failure("first"))
    outcomes.write("a", Failure("second"))
    outcomes.write("b", MANIFEST)
    assert list(outcomes.take()) == [("a", Failure("first")), ("b", MANIFEST)]
    assert list(outcomes.take()) == []
