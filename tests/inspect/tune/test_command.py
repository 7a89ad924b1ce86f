"""The command tells the page's address to its user alone, serves it at once, and ends well when it is stopped."""

import os
import re
import signal
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.inspect.tune.command import _ended_by_signals

uvicorn = pytest.importorskip("uvicorn")

NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/[^/\s\"]{20,}/")
BROWSER = """#!/bin/sh
tr '\\0' ' ' < /proc/$$/cmdline > {log}.tmp
mv {log}.tmp {log}
"""


@contextmanager
def tuned(run: Path, temporary: Path, *arguments: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "obelics_pipeline", "tune", str(run), *arguments]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary), **environment},
    ) as served:
        try:
            yield served
        finally:
            served.kill()


def address_of(served: "subprocess.Popen[str]") -> str:
    assert served.stdout is not None
    return next(found[0] for line in served.stdout if (found := ADDRESS.search(line)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_is_served_until_it_is_stopped_and_leaves_no_file(
    number: signal.Signals, sampled_run: Path, tmp_path: Path
) -> None:
    with tuned(sampled_run, tmp_path / "temporary", "--no-browser") as served:
        with NO_PROXY.open(address_of(served), timeout=60) as page:
            assert b"obelics tune" in page.read()
        (private,) = (tmp_path / "temporary").glob("obelics-tune-*")
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        served.send_signal(number)
        assert served.stdout is not None
        rest = served.stdout.read()
        assert served.wait(60) == 0, rest
        assert "Traceback" not in rest
        assert not private.exists()


def test_what_other_users_see_of_the_browser_does_not_tell_the_address(sampled_run: Path, tmp_path: Path) -> None:
    browser, log = tmp_path / "browser", tmp_path / "log"
    browser.write_text(BROWSER.format(log=log))
    browser.chmod(0o700)
    asked = {"BROWSER": f"{browser} %s", "DISPLAY": ":99"}
    with tuned(sampled_run, tmp_path / "temporary", **asked) as served:
        address = address_of(served)
        with NO_PROXY.open(address, timeout=60):  # it is served after the browser was opened
            command_line = log.read_text()
        (page,) = (tmp_path / "temporary").glob("obelics-tune-*/*")
        assert page.as_uri() in command_line
        assert address.split("/")[3] not in command_line
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert address in page.read_text()


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_a_log_that_others_can_read_does_not_tell_the_address(mode: int, sampled_run: Path, tmp_path: Path) -> None:
    (tmp_path / "log").touch(mode)
    (tmp_path / "log").chmod(mode)
    command = 'exec "$0" -u -m obelics_pipeline tune "$1" --no-browser --port 0 > "$2"'
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    started = ["sh", "-c", command, sys.executable, str(sampled_run), str(tmp_path / "log")]
    with subprocess.Popen(started, env=environment) as served:
        try:
            while "Ctrl-C" not in (printed := (tmp_path / "log").read_text()):
                assert served.poll() is None
            (page,) = tmp_path.glob("obelics-tune-*/*")
            served.terminate()
            assert served.wait(60) == 0
        finally:
            served.kill()
    assert bool(ADDRESS.search(printed)) == (mode == 0o600)
    assert (str(page) in printed) == (mode == 0o644)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_page_is_served_ends_it_too(number: int) -> None:
    server = uvicorn.Server(uvicorn.Config("none"))
    with _ended_by_signals(server):
        signal.raise_signal(number)
    assert server.should_exit


@pytest.mark.parametrize("port", ["80000", "65536", "-1"])
def test_a_port_that_is_none_is_one_line(port: str, sampled_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(sampled_run), "--no-browser", "--port", port]) == 2
    assert capsys.readouterr().err == f"obelics: --port {port}: must be 1 to 65535, or 0 for a free one\n"
