"""The machines of a training, looked at step by step: what may be their fault and not the data's."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.folder import TrainingFolder
from obelics_pipeline.training.train.guard.observation import Hardware
from obelics_pipeline.training.train.health.canary import Canary, StillWeights, gathered
from obelics_pipeline.training.train.health.config import HealthConfig
from obelics_pipeline.training.train.health.gpus import gpus, refuse_denied
from obelics_pipeline.training.train.health.heartbeat import Heartbeat, heartbeat_path
from obelics_pipeline.training.train.health.kernel_log import KernelLog
from obelics_pipeline.training.train.health.preflight import burn, thread_warning
from obelics_pipeline.training.train.health.slow_ranks import SlowRanks
from obelics_pipeline.training.train.health.update_bounds import UpdateBounds
from obelics_pipeline.training.train.health.xid import xids
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer
from obelics_pipeline.training.train.processes import Processes


@dataclass(eq=False)
class Machines:
    """Of one process; all of them call `look` and `written` at the same steps."""

    config: HealthConfig
    processes: Processes
    model_and_optimizer: ModelAndOptimizer
    heartbeat: Heartbeat
    log: KernelLog | None
    canary: Canary = field(default_factory=Canary)
    weights: StillWeights = field(default_factory=StillWeights)
    bounds: UpdateBounds | None = None
    _too_far: int = 0  # 1 + the place of a tensor that the last update moved too far
    slow: SlowRanks = field(default_factory=SlowRanks)

    def look(self, step: int) -> tuple[Hardware, ...]:
        """Before a step computes: signs that a machine is at fault, the same on all processes."""
        self.heartbeat.beat(step)
        found: list[Hardware] = []
        device = self.processes.device
        if self.config.canary_steps and step % self.config.canary_steps == 0:
            found += self.canary.check(step, device)
        mine = [x.event(socket.gethostname()) for x in xids(self.log.lines())] if self.log else []
        for of_rank in self.processes.gathered(mine) if self.log else []:
            found += [event for event in of_rank if event not in found]
        return tuple(found)

    def still(self, step: int) -> tuple[Hardware, ...]:
        """Once a step's gradient is there, before its update: weights that changed since the last one, or that the last
        one moved farther than it could. The same on all processes."""
        every = self.config.weight_steps
        if not every or (step - 1) % every:
            return ()
        found = self.weights.check(self.model_and_optimizer.parameters, self.processes.device)
        of_ranks = gathered(self._too_far, self.processes.device)
        self._too_far = 0
        names = list(self.model_and_optimizer.names)
        far = [(rank, names[place - 1]) for rank, place in enumerate(of_ranks) if place]
        return (*found, *(Hardware(f"update of {name}", f"rank {rank}", True, step - 2) for rank, name in far))

    def written(self, step: int, rate: float | None = None, decay: float = 0.0) -> None:
        """The optimiser, at this rate, has written the weights of a step; or, without one, a checkpoint was read."""
        every = self.config.weight_steps
        if not every or step % every:
            return
        self.weights.written(step, self.model_and_optimizer.parameters)
        # norms of every update, or there is nothing to hold an update against
        moved = self.bounds.moved(rate, decay) if self.bounds and rate is not None and every == 1 else None
        self._too_far = 1 + self.bounds.names.index(moved) if self.bounds and moved else 0
        if self.bounds and rate is None:
            self.bounds.written()

    def times(self, seconds: float) -> list[str]:
        """A step's own seconds of this process; which ranks are slow, in words."""
        if not self.processes.several:
            return []
        return [
            f"rank {slow.rank} takes {slow.factor:.1f} times as long as the others"
            if slow.rank is not None
            else f"all ranks take {slow.factor:.1f} times as long as before"
            for slow in self.slow.feed(self.processes.gathered(seconds))
        ]

    def leave(self) -> None:
        """At the end of the process's part."""
        self.heartbeat.stop()
        if self.log is not None:
            self.log.close()


def look_before(
    config: HealthConfig, processes: Processes, threads: int, workers: int, say: Callable[[str], None]
) -> dict[str, object]:
    """Look at this process's machine before it trains; what the ledger should know of all of them.

    Raises UserError for a machine or GPU that is not to be used, or one that computes wrongly.
    """
    here = gpus() if processes.device.type == "cuda" else ()
    refuse_denied(here, [socket.gethostname()], config.deny)
    for gpu in here:
        if gpu.trouble:
            say(f"look: GPU {gpu.uuid} of {socket.gethostname()} has {gpu.trouble}")
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    warning = thread_warning(threads, local)
    if warning and processes.first:
        say(f"look: {warning}")
    if config.burn_seconds:
        burned = burn(str(processes.device), config.burn_seconds)
        if burned.differing:
            raise UserError(
                f"{socket.gethostname()} {processes.device}: {burned.differing} of its products differ from the first; "
                "do not use it (health.deny)"
            )
    mine = {"host": socket.gethostname(), "gpus": [gpu.uuid for gpu in here], "threads": threads, "workers": workers}
    return {"ranks": list(processes.gathered(mine))}


def watched(
    config: HealthConfig, folder: TrainingFolder, processes: Processes, model_and_optimizer: ModelAndOptimizer
) -> Machines:
    """The watch over a training, begun."""
    heartbeat = Heartbeat(heartbeat_path(folder.path, processes.rank), config.timeout_seconds).start()
    log = KernelLog(config.kernel_log) if config.kernel_log and processes.device.type == "cuda" else None
    beta1, beta2 = model_and_optimizer.optimizer.param_groups[0]["betas"]
    bounds = UpdateBounds(model_and_optimizer.names, beta1, beta2)
    return Machines(config, processes, model_and_optimizer, heartbeat, log, bounds=bounds)
