"""Joining a Ray cluster: what goes wrong is one line that says what to do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import obelics_pipeline
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.engines.on_ray.session import HEAD_WAIT, INSIDE_A_JOB, session

ray = pytest.importorskip("ray")


@pytest.mark.parametrize(
    ("error", "kind", "line"),
    [
        (
            Exception("The current node timed out during startup.\nSee logs."),
            Stopped,
            "did not start: The current node",
        ),
        (RuntimeError("Timed out waiting for file gcs_server_port"), Stopped, "did not start: Timed out"),
        (ConnectionError("no answer"), UserError, "cannot join local: no answer"),
    ],
)
def test_a_ray_that_does_not_start_is_one_line(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception], line: str
) -> None:
    def init(**_settings: object) -> None:
        raise error

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(kind, match=line) as caught, session("local", 1, RayConfig()):
        pass
    assert "\n" not in str(caught.value)


def test_the_head_of_an_own_ray_has_as_long_as_the_config_says(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def init(**_settings: object) -> None:
        seen.append(os.environ.get(HEAD_WAIT))
        raise ConnectionError("no answer")

    monkeypatch.delenv(HEAD_WAIT, raising=False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(UserError), session("local", 1, RayConfig(start_seconds=70.5)):
        pass
    assert seen == ["71"]


def test_a_mistake_of_ours_while_ray_starts_is_no_word_about_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_settings: object) -> None:
        raise TypeError("no such setting")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(TypeError), session("local", 1, RayConfig()):
        pass


@pytest.mark.parametrize("folder", ["libs", "site-packages"])
def test_where_it_is_not_installed_the_one_package_is_sent_and_it_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    """`pip install --target libs` leaves no folders called filters or models; nor may nodes be given such names."""
    seen: dict[str, Any] = {}

    def init(**settings: object) -> None:
        seen.update(settings)
        raise ConnectionError("no answer")

    package = tmp_path / folder / "obelics_pipeline"
    package.mkdir(parents=True)
    monkeypatch.delenv(INSIDE_A_JOB, raising=False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(obelics_pipeline, "__file__", str(package / "__init__.py"))
    with pytest.raises(UserError), session("127.0.0.1:1", 1, RayConfig()):
        pass
    assert seen.get("runtime_env") == ({"py_modules": [str(package)]} if folder == "libs" else None)
