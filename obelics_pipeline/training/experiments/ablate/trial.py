"""One training of an experiment, an arm with a seed, in a process of its own; it can be stopped and gone on with."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.training.experiments.ablate.plans import Planned
from obelics_pipeline.training.train.config import TrainConfig

STATE, CONFIG, LOG, RUN = "trial.json", "train.yaml", "train.log", "run"
PATIENCE = 20.0  # seconds


class Failed(Exception):
    """A training ended before its plan did; the message is why."""


@dataclass(frozen=True)
class Trial:
    """`folder` gets the training's config, log and folder; `lock` is a handle that its process inherits."""

    arm: str
    seed: int
    folder: Path
    config: TrainConfig
    planned: Planned

    @property
    def name(self) -> str:
        """For a person."""
        return f"{self.arm}, seed {self.seed}"

    @property
    def run(self) -> Path:
        """The folder of the training."""
        return self.folder / RUN

    def state(self) -> dict[str, Any]:
        """How far it is: `goes` that are done, and `held_out` once it was measured.

        Raises UserError where the folder is of another training.
        """
        identity = self._identity()
        try:
            known: dict[str, Any] = json.loads((self.folder / STATE).read_text("utf-8"))
        except FileNotFoundError:
            return {"identity": identity, "goes": 0}
        except (OSError, ValueError) as error:
            raise UserError(f"{self.folder / STATE}: cannot be read ({error}); remove {self.folder}") from None
        if known.get("identity") != identity:
            raise UserError(
                f"{self.folder}: was trained with another config or plan; give another --output, or remove the folder"
            )
        return known

    def write(self, state: dict[str, Any]) -> None:
        """Note how far it is, whole or not at all."""
        write_bytes(self.folder / STATE, (json.dumps(state, indent=1) + "\n").encode())

    def train(self, lock: int) -> None:
        """Train what is not trained yet, go by go. `lock`: a handle that the process inherits. Raises Failed."""
        state = self.state()
        self.folder.mkdir(parents=True, exist_ok=True)
        write_bytes(self.folder / CONFIG, dump_config(self.config).encode())
        for number, step in enumerate(self.planned.goes, start=1):
            if state["goes"] < number:
                self._go(step, lock)
                state |= {"goes": number}
                self.write(state)

    def _go(self, step: int, lock: int) -> None:
        command = [sys.executable, "-m", "obelics_pipeline", "train", str(self.folder / CONFIG)]
        command += ["--output", str(self.run), "--set", f"steps={step}"]
        with (self.folder / LOG).open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, pass_fds=(lock,))
            try:
                code = process.wait()
            except KeyboardInterrupt:
                _end(process)
                raise
        if code < 0:
            raise Failed(f"it was killed (signal {-code}); run the same command again to continue with it")
        if code:
            raise Failed(f"{_last_line(self.folder / LOG)} (exit code {code}; {self.folder / LOG})")

    def _identity(self) -> str:
        said = self.config.model_dump(mode="json", exclude_defaults=True)  # a later version may have more keys
        facts = [said, self.planned.plan.id, self.planned.goes]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait until a training that is to stop has written down where it is."""
    try:
        process.wait(PATIENCE)  # a terminal's Ctrl-C has told it as well
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait()


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("obelics: ") if lines else "it said nothing"
