"""What holds for every test: the same examples in every run, and no connection that leaves this machine."""

import ipaddress
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import HealthCheck, settings

from tests.once import made_once

settings.register_profile(
    "same-everywhere",
    derandomize=True,
    deadline=None,  # a slow machine is not a bug
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same-everywhere")


# pytest-xdist's processes ignore Ctrl-C, and so would every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Ray reads these when it is imported, and img2dataset imports it.
for _name, _value in {
    "RAY_ENABLE_AUTO_CONNECT": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_idle_worker_killing_time_threshold_ms": "60000",
    "RAY_worker_niceness": "0",
}.items():
    os.environ.setdefault(_name, _value)


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a connection to anything but loopback or a local socket; forked workers inherit the refusal."""
    if event not in ("socket.connect", "socket.sendto") or not isinstance(arguments[1], tuple):
        return
    host = arguments[1][0]
    if host not in ("localhost", "") and not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        raise AssertionError(f"a test tried to reach {arguments[1]}: tests stay on loopback")


sys.addaudithook(_only_loopback)


@pytest.fixture(scope="session")
def warcs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The demo's web site as two WARC files."""
    from obelics_pipeline.demo.pack import pack

    return sorted(made_once(tmp_path_factory, "warcs", pack).glob("*.warc.gz"))


@pytest.fixture(scope="session")
def proxy() -> Iterator[str]:
    """The demo's image server: a forward proxy on loopback that answers for the site's hosts.

    The one host that never answers hangs up after a second, before any time limit of a run: each run would wait for it,
    and whether it was late would depend on how busy the machine is.
    """
    from obelics_pipeline.demo.server import serve

    with serve(slow_seconds=1.0) as url:
        yield url


@pytest.fixture(scope="session")
def sampled_run(warcs: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a share of the demo's web site, images and all: not to be changed."""
    from tests.sampled import run_sample

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("http_proxy", proxy)
        patch.setenv("no_proxy", "")
        return made_once(tmp_path_factory, "sampled", lambda folder: run_sample(warcs, folder / "run")) / "run"


@pytest.fixture(scope="session")
def run_of_demo(warcs: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run over the demo's site: for reading; one that is changed must be a copy."""
    from tests.faults.runs import HASTE, command, finish

    def make(folder: Path) -> None:
        code, printed = finish(command(warcs, folder / "out", sets=HASTE), proxy)
        assert code == 0, printed

    return made_once(tmp_path_factory, "run-of-demo", make) / "out"


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3 server that keeps its objects in memory; processes find it by the environment.

    One for all tests: fsspec keeps a client per process, and that of a server that is gone answers nobody.
    """
    from tests.core.storage.s3 import serving

    with serving() as environment, pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield environment["AWS_ENDPOINT_URL"]


@pytest.fixture(scope="session")
def gs() -> Iterator[str]:
    """The address of a GCS server that keeps its objects in memory; processes find it by the environment."""
    from tests.core.storage.gcs import serving

    with serving() as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", address)
        patch.setenv("FSSPEC_GS_TOKEN", "anon")
        patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # else it asks for the bucket's type by gRPC
        fsspec.config.set_conf_env(fsspec.config.conf)
        yield address


@pytest.fixture(scope="session")
def training(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with a plan and parts, and the config of a training on them."""
    pytest.importorskip("torch")
    from tests.training.train.trainable import make_training

    folder = tmp_path_factory.mktemp("training")
    return folder, make_training(folder)


@pytest.fixture(scope="session")
def undisturbed(training: tuple[Path, dict[str, Any]]) -> Path:
    """A training on it from start to end, in one process."""
    from tests.training.train.trainable import run, write_config

    folder, config = training
    run(write_config(folder, config), folder / "undisturbed")
    return folder / "undisturbed"
