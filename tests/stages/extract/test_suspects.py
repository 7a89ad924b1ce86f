"""One page that takes its worker down is singled out; a chance death accuses nobody."""

from pathlib import Path

from obelics_pipeline.stages.extract.suspects import Suspects


def die_at(notes: Path, page: str, crashes: int = 1) -> None:
    suspects = Suspects(notes, crashes).__enter__()
    for before in ("1", "2"):
        suspects.touch(before)
    suspects.touch(page)  # and no exit: the process is gone


def test_a_first_try_notes_nothing(tmp_path: Path) -> None:
    with Suspects(tmp_path / "notes", 0) as suspects:
        suspects.touch("7")
    assert not (tmp_path / "notes").exists()


def test_a_page_accused_three_times_is_guilty(tmp_path: Path) -> None:
    for _ in range(3):
        die_at(tmp_path / "notes", "7")
    with Suspects(tmp_path / "notes", 3) as suspects:
        assert suspects.guilty == {"7"}


def test_deaths_at_different_pages_accuse_nobody(tmp_path: Path) -> None:
    for page in ("7", "8", "7", "9"):
        die_at(tmp_path / "notes", page)
    with Suspects(tmp_path / "notes", 3) as suspects:
        assert suspects.guilty == frozenset()


def test_a_death_before_any_page_accuses_nobody(tmp_path: Path) -> None:
    for _ in range(3):
        Suspects(tmp_path / "notes", 1).__enter__()
    with Suspects(tmp_path / "notes", 1) as suspects:
        assert suspects.guilty == frozenset()


def test_several_guilty_pages_are_found_one_after_the_other(tmp_path: Path) -> None:
    for page in ("7", "7", "7", "9", "9", "9"):
        die_at(tmp_path / "notes", page)
    with Suspects(tmp_path / "notes", 7) as suspects:
        assert suspects.guilty == {"7", "9"}


def test_the_notes_of_a_finished_unit_are_gone(tmp_path: Path) -> None:
    with Suspects(tmp_path / "notes", 1) as suspects:
        suspects.touch("1")
        suspects.forget()
    assert not (tmp_path / "notes").exists()
