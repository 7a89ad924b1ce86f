"""A pipeline that is running: in a process of this machine that may die, or on a cluster that looks after itself."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Protocol

from apache_beam import Pipeline
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineResult, PipelineRunner, PipelineState

from obelics_pipeline.beam_jobs.counters import counters_of
from obelics_pipeline.beam_jobs.options import with_runner
from obelics_pipeline.core.errors import UserError

Build = Callable[[Pipeline], None]  # adds transforms to a pipeline; picklable

NO_GRPC_PROXY = "no_grpc_proxy"  # gRPC's own list of hosts that are asked directly; it knows the lower-case name only
WORKER_GONE = 75  # exit code of a process whose Beam worker was killed: EX_TEMPFAIL of sysexits.h


def new_pipeline(options: Sequence[str], runner: PipelineRunner | None = None) -> Pipeline:
    """An empty pipeline under these options. Raises UserError, in one line, for options that Beam refuses."""
    try:
        return Pipeline(runner=runner, options=PipelineOptions(with_runner(options)))
    except (ValueError, ImportError) as error:
        what = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
        hint = "see docs/beam.md for the options of each runner"
        if isinstance(error, ImportError):
            hint = "this runner needs more; for Dataflow: pip install 'apache-beam[gcp]'"
        raise UserError(f"Beam's options: {what[:400]}; {hint}") from None


class Died(Exception):
    """The process of a pipeline, or a worker of it, was killed."""


class Run(Protocol):
    """A pipeline on its way."""

    def wait(self, seconds: float) -> Counter[str] | Exception | None:
        """Its counters once it has ended well, why it has not, or None while it runs."""
        ...

    def stop(self) -> None:
        """End it, and all that it started."""
        ...


class Launcher(Protocol):
    """Starts pipelines, one at a time."""

    def start(self, build: Build) -> Run:
        """Build a pipeline and run it."""
        ...

    def close(self) -> None:
        """End what is left."""
        ...


class ProcessLauncher:
    """Runs pipelines in one process of its own, which is started again if it dies.

    Beam's multi_processing mode waits for ever for a worker that was killed: the news dies in a thread of Beam's. In a
    process of its own that thread can end everything. The caller outside notices, removes what is left of the process
    group (Beam's workers are in it) and may run the pipeline again.

    What Beam's processes say goes to `log`: some fifty lines a pipeline.
    """

    def __init__(self, options: Sequence[str], log: Path) -> None:
        self._options, self._log = list(options), log
        self._process: _Process | None = None

    def start(self, build: Build) -> Run:
        """Run a pipeline; the process must be free."""
        if self._process is None or self._process.over:
            self._process = _Process(self._log)
        self._process.give(build, self._options)
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.stop()


class _Process:
    """One process that runs pipelines one after the other, at the head of a process group of its own."""

    def __init__(self, log: Path) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(target=_serve, args=(theirs, log), name="beam")
        resource_tracker.ensure_running()  # it would unblock what is blocked here
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # Ctrl-C is the driver's business
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self.over = False

    def give(self, build: Build, options: Sequence[str]) -> None:
        with contextlib.suppress(OSError):  # it is dead: `wait` will say so
            self._pipe.send((build, options))

    def wait(self, seconds: float) -> Counter[str] | Exception | None:
        if not connection.wait([self._pipe, self._process.sentinel], timeout=seconds):
            return None
        try:
            if self._pipe.poll():
                received: Counter[str] | Exception = self._pipe.recv()
                return received
        except (EOFError, OSError):
            pass
        self.stop()
        return Died(f"a Beam worker, or the process it belongs to, was killed (exit code {self._process.exitcode})")

    def stop(self) -> None:
        if not self.over:
            self.over = True
            assert self._process.pid is not None
            for kill in (lambda pid: os.killpg(pid, signal.SIGKILL), lambda pid: os.kill(pid, signal.SIGKILL)):
                with contextlib.suppress(ProcessLookupError):  # no group yet: it was not there for long
                    kill(self._process.pid)
            self._process.join()
            self._pipe.close()


def _serve(pipe: connection.Connection, log: Path) -> None:  # pragma: no cover - runs in the process
    """The life of the process: a pipeline, its counters, the next one, until the driver is gone."""
    os.setsid()
    with log.open("ab") as stream:
        os.dup2(stream.fileno(), sys.stderr.fileno())
        os.dup2(stream.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Beam's workers inherit it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _speak_directly_to_workers()
    threading.excepthook = _end_where_a_worker_is_gone
    threading.Thread(target=_end_with_driver, daemon=True).start()
    logging.basicConfig(level=logging.WARNING)
    while True:
        try:
            build, options = pipe.recv()
        except (EOFError, OSError):
            os.killpg(0, signal.SIGKILL)
        except Exception as error:  # it cannot be unpickled here
            pipe.send(as_plain_error(error))
        else:
            pipe.send(_run(build, options))


def _run(build: Build, options: Sequence[str]) -> Counter[str] | Exception:
    try:
        pipeline = new_pipeline(options)
        build(pipeline)
        result = pipeline.run()
        result.wait_until_finish()
        return counters_of(result)
    except UserError as error:
        return error
    except Exception as error:
        return as_plain_error(error)


def as_plain_error(error: Exception) -> Exception:
    """What a failed pipeline says, as an error that can be pickled; a full disk is recognised by the words."""
    text = f"{type(error).__name__}: {error}"
    if f"[Errno {errno.ENOSPC}]" in text:
        return OSError(errno.ENOSPC, "No space left on device")
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return RuntimeError(f"{lines[0][:300]} … {lines[-1][:300]}" if len(lines) > 1 else lines[0][:600])


def _speak_directly_to_workers() -> None:  # pragma: no cover - runs in the process
    """gRPC would send what Beam says to its workers on this machine through the proxy that `http_proxy` names."""
    spared = os.environ.get(NO_GRPC_PROXY) or os.environ.get("no_proxy", "")
    os.environ[NO_GRPC_PROXY] = f"{spared},localhost,127.0.0.1".lstrip(",")


def _end_where_a_worker_is_gone(arguments: Any) -> None:  # pragma: no cover - runs in the process
    """Beam's thread `run_worker` says that its worker is dead; the pipeline would wait for it for ever."""
    if "Worker subprocess exited" in str(arguments.exc_value):
        os._exit(WORKER_GONE)
    threading.__excepthook__(arguments)


def _end_with_driver() -> None:  # pragma: no cover - runs in the process
    driver = parent_process()
    assert driver is not None
    connection.wait([driver.sentinel])
    os.killpg(0, signal.SIGKILL)


class ClusterLauncher:
    """Hands pipelines to a runner that is not of this machine, with the options as they are given."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = list(options)

    def start(self, build: Build) -> Run:
        """Submit a pipeline. Raises UserError for options that Beam refuses."""
        pipeline = new_pipeline(self._options)
        build(pipeline)
        return _Submitted(pipeline.run())

    def close(self) -> None:
        """Nothing: each job was waited for, or cancelled."""


class _Submitted:
    """A job on a cluster."""

    def __init__(self, result: PipelineResult) -> None:
        self._result = result

    def wait(self, seconds: float) -> Counter[str] | Exception | None:
        if not PipelineState.is_terminal(self._result.state):
            time.sleep(seconds)
            return None
        if self._result.state == PipelineState.DONE:
            return counters_of(self._result)
        return RuntimeError(f"the job ended as {self._result.state}; its log at the runner says why")

    def stop(self) -> None:
        if not PipelineState.is_terminal(self._result.state):
            with contextlib.suppress(NotImplementedError):
                self._result.cancel()
