"""A process that works for a run is known by its number, its start and its machine."""

import json
import subprocess
import sys

from obelics_pipeline.core.process import is_gone, is_here, this_process

TELL = "import json; from obelics_pipeline.core.process import this_process; print(json.dumps(this_process()))"


def test_a_process_that_is_there_is_not_gone() -> None:
    told = this_process()
    assert is_here(told)
    assert not is_gone(told)


def test_one_that_has_ended_is_gone() -> None:
    told = json.loads(subprocess.run([sys.executable, "-c", TELL], stdout=subprocess.PIPE, check=True).stdout)
    assert is_here(told)
    assert is_gone(told)


def test_a_later_process_with_its_number_is_not_it() -> None:
    assert is_gone(this_process() | {"begun": 1})


def test_of_another_machine_nothing_is_known() -> None:
    told = this_process() | {"processes": "another start of another machine", "process": 999_999_999}
    assert not is_here(told)
    assert not is_gone(told)
