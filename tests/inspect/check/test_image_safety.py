"""What image_safety names is looked for before a run."""

from pathlib import Path

from obelics_pipeline.core.config import load_config
from obelics_pipeline.inspect.check.image_safety import image_safety_findings


def found(folder: Path, *sets: str) -> list[tuple[str, str]]:
    return [(f.state, f.text) for f in image_safety_findings(load_config("default", sets), folder / "run")]


def test_nothing_is_said_where_nothing_is_named(tmp_path: Path) -> None:
    assert found(tmp_path) == []
    assert found(tmp_path, "image_safety.faces=no.such:thing", "fetch.enabled=false") == []


def test_what_is_missing_is_told_and_what_is_there_is_made_ready(tmp_path: Path) -> None:
    named = f"image_safety.known_abuse={{lists: [{{path: {tmp_path / 'l.txt'}}}], cache: {tmp_path / 'cache'}}}"
    [(state, text)] = found(tmp_path, named)
    assert state == "missing" and "l.txt cannot be read" in text
    (tmp_path / "l.txt").write_text("ab" * 16)
    assert [state for state, _ in found(tmp_path, named)] == ["ok", "warning"]
    assert (tmp_path / "cache").is_dir()
    report = f"image_safety.report.file={tmp_path / 'run' / 'r.jsonl'}"
    [(state, text)] = found(tmp_path, named, report)
    assert state == "missing" and "in the run's folder" in text
    [(state, text)] = found(tmp_path, "image_safety.faces=no.such:thing")
    assert state == "missing" and "cannot be imported" in text
