"""A command that was refused says why in one line."""

import pytest


def refused(capsys: pytest.CaptureFixture[str], code: int) -> str:
    """The one line that the command ended with."""
    assert code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]
