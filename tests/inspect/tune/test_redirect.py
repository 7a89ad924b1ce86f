"""A browser is led to the page by a file that only its user can read."""

import stat
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.tune.redirect import redirecting


def test_only_its_user_can_read_it_and_it_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with redirecting("http://127.0.0.1:1/token/") as page:
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        assert "token" not in page.as_uri()
        assert 'content="0; url=http://127.0.0.1:1/token/"' in page.read_text()
        assert 'name="referrer" content="no-referrer"' in page.read_text()
    assert list(tmp_path.iterdir()) == []


def test_it_is_gone_when_the_page_ends_badly_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match="of the server"), redirecting("http://127.0.0.1:1/token/"):
        raise OSError("of the server")
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_for_it_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="set TMPDIR"), redirecting("http://127.0.0.1:1/token/"):
        pass
