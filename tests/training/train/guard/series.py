"""Numbers of made-up training runs: a falling loss, warm-up and decay, data sets of different sizes and scales, noise
with heavy tails that depends on the targets of a step, gentle drift of gradient norms and activations, and bursts."""

from collections.abc import Iterator
from dataclasses import replace
from math import cos, exp, log, pi

import numpy as np

from obelics_pipeline.training.train.guard.observation import Activation, DatasetSigns, Observation


def learning_rate(step: int, steps: int, peak: float, warm_up: int) -> float:
    """Linear warm-up, then a cosine to a tenth."""
    if step <= warm_up:
        return peak * step / warm_up
    return peak * (0.1 + 0.45 * (1 + cos(pi * (step - warm_up) / max(steps - warm_up, 1))))


def clean(seed: int, steps: int, sample_every: int = 10) -> Iterator[Observation]:
    """A run with nothing wrong; everything about it is drawn from the seed."""
    draw = np.random.default_rng(seed)
    names = [f"set {i}" for i in range(int(draw.integers(1, 6)))]
    scale = draw.uniform(1.2, 4.0, len(names))
    share = draw.dirichlet(np.full(len(names), 2.0)) + 0.02
    targets_of_step = int(draw.choice([2_000, 16_000, 200_000]))
    noise = float(draw.uniform(0.5, 1.5)) * draw.uniform(1.0, 3.0, len(names))
    freedom = draw.uniform(3.5, 12.0, len(names))
    fall, speed, ground = draw.uniform(0.5, 1.2), draw.uniform(0.2, 0.5), 1.0
    peak, warm_up = 10 ** draw.uniform(-4, -2.5), int(draw.integers(20, 400))
    grad_level, grad_noise, grad_climb = 10 ** draw.uniform(-1, 0.7), draw.uniform(0.05, 0.25), draw.uniform(0, 0.4)
    burst = draw.uniform(0.0, 0.01)  # chance of a step whose gradient is a few times the usual
    groups = [f"{layer}.{kind}" for layer in range(int(draw.integers(2, 9))) for kind in ("q", "o", "fc1", "fc2")]
    rms, rms_noise = 10 ** draw.uniform(-1, 1, len(groups)), draw.uniform(0.005, 0.04)
    climb = draw.uniform(-0.1, 0.3, len(groups))
    wander, words = 0.0, float(draw.uniform(5, 11))
    limit, cursor = 2.5 * grad_level, 0
    for step in range(1, steps + 1):
        wander = 0.995 * wander + 0.0008 * float(draw.normal())  # the data of a while are a little easier, or harder
        datasets = {}
        for i, name in enumerate(names):
            targets = int(draw.poisson(targets_of_step * share[i] * draw.uniform(0.4, 1.0)))
            if not targets:
                continue
            level = scale[i] * (ground + fall * (1 + step / 30) ** -speed + 1.5 * exp(-step / 40))
            error = float(np.clip(draw.standard_t(freedom[i]), -12, 12)) * noise[i] / targets**0.5
            loss = level * exp(wander + error)
            worst = loss * exp(abs(float(draw.normal())) * 0.15 + 0.15)
            datasets[name] = DatasetSigns(loss, targets, 0.3 * exp(-step / 500) + 0.03 * float(draw.normal()), worst)
        if not datasets:
            continue
        total = sum(d.targets for d in datasets.values())
        loss = sum(d.loss * d.targets for d in datasets.values()) / total
        tail = float(np.clip(draw.standard_t(5), -8, 8)) * grad_noise
        burst_now = float(draw.uniform(0.4, 1.3)) if draw.uniform() < burst else 0.0
        grad = grad_level * (1 + 8 * exp(-step / 50)) * (step / steps + 0.01) ** grad_climb * exp(tail + burst_now)
        sampled = step % sample_every == 0
        grown = (step / steps) ** 0.5
        log_z = sum(d.log_z * d.targets for d in datasets.values()) / total
        yield Observation(
            step=step,
            cursor=cursor,
            rows=8,
            lr=(rate := learning_rate(step, steps, peak, warm_up)),
            lr_expected=rate,
            lr_before=learning_rate(step - 1, steps, peak, warm_up),
            loss=loss,
            grad_norm=grad,
            log_z=log_z,
            log_z_max=log_z + words * exp(0.05 * float(draw.normal())),
            clipped=grad > limit,
            top1_share=float(draw.uniform(0.03, 0.12)),
            datasets=datasets,
            activations={
                g: Activation(r := float(rms[i] * exp(climb[i] * grown + rms_noise * draw.normal())), 12 * r)
                for i, g in enumerate(groups)
            }
            if sampled
            else {},
            gradients={g: float(grad * exp(0.2 * draw.normal()) / 3) for g in groups} if sampled else {},
        )
        cursor += 8


def louder(seen: Observation, by: float, grad: float = 1.0) -> Observation:
    """All losses of a step up by a difference of logarithms, its gradient norm by a factor."""
    datasets = {n: replace(d, loss=d.loss * exp(by), worst=d.worst * exp(by)) for n, d in seen.datasets.items()}
    return replace(seen, loss=seen.loss * exp(by), grad_norm=seen.grad_norm * grad, datasets=datasets)


def grown(seen: Observation, layer: str, by: float) -> Observation:
    """Activations of a layer times a factor."""
    activations = {
        n: Activation(a.rms * by, a.max * by) if n.startswith(f"{layer}.") else a for n, a in seen.activations.items()
    }
    return replace(seen, activations=activations)


def half_life(by: float) -> float:
    """Steps in which a growth per step doubles a number."""
    return log(2) / log(by)


def remixed(
    seed: int, before: tuple[float, float], after: tuple[float, float], at: int, steps: int
) -> Iterator[Observation]:
    """A run with nothing wrong whose plan changes at a step what share of its targets an easy set has, and a hard one.

    A set that is new is learned from there on; gradients of the second mix are longer.
    """
    draw = np.random.default_rng([seed, 1])
    for seen in clean(seed, steps):
        datasets = {}
        for name, share, level in zip(("easy", "hard"), before if seen.step < at else after, (2.0, 3.2), strict=True):
            if targets := int(draw.poisson(16_000 * share)):
                new = 0.6 * exp(-max(seen.step - at, 0) / 25) if name == "hard" and not before[1] else 0.0
                level *= (1 + new) * (1 + (1 + seen.step / 30) ** -0.4)
                loss = level * exp(float(np.clip(draw.standard_t(5), -8, 8)) / targets**0.5)
                datasets[name] = DatasetSigns(loss, targets, seen.log_z, 1.3 * loss)
        total = sum(d.targets for d in datasets.values())
        loss = sum(d.loss * d.targets for d in datasets.values()) / total
        grad = seen.grad_norm * (1 if seen.step < at else 2)
        yield replace(seen, loss=loss, datasets=datasets, grad_norm=grad)
