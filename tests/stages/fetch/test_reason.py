"""Only reasons for which an image can fail can be asked for again; every such word of the code is one of them."""

import ast
from pathlib import Path

import pytest

import obelics_pipeline.stages.fetch as fetch
from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.fetch.reason import LASTING, RETRYABLE, check_reasons, is_dropped


def test_every_reason_that_the_code_raises_can_be_asked_for() -> None:
    raised = set()
    for path in Path(fetch.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "FetchError":
                raised |= {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    words = {word for word in raised if isinstance(word, str) and not is_dropped(word)} - {"http_", "Retry-After"}
    assert {"corrupt_image", "fetch_error", "reencode_failed"} <= words
    assert words <= LASTING | RETRYABLE
    assert not any(map(is_dropped, LASTING | RETRYABLE))


@pytest.mark.parametrize("name", ["retryable", "timeout", "http_503", "http_404", "too_many_redirects"])
def test_a_reason_can_be_named(name: str) -> None:
    check_reasons([name])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("503", "did you mean http_503?"),
        ("timeouts", "did you mean timeout?"),
        ("too_large", "a rule dropped these images"),
        ("noai_header", "a rule dropped these images"),
        ("opt_out_unanswered", "not a reason for which a download fails"),
        ("http_1234", "not a reason for which a download fails"),
    ],
)
def test_what_is_no_such_reason_is_refused_with_those_that_are(name: str, said: str) -> None:
    with pytest.raises(UserError, match=f"--retry-failed {name}: .*valid are retryable, .*http_503") as error:
        check_reasons(["dns", name])
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_refuses_it_before_anything_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["run", "default", "--input", "x.warc", "--output", str(tmp_path / "out"), "--retry-failed", "503"]
    assert main(given) == 2
    assert "did you mean http_503?" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
