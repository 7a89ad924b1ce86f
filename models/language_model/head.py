"""What is read off a model's logits, in slices: no step ever holds those of all its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

VALUES = 1 << 26  # of a slice's logits: 0.27 GB of float32, three of which are held at a time, five with a second model
FLOOR = -1e3  # of a logit less the largest: its exponential is 0, and minus infinity times 0 would not be


@dataclass(frozen=True)
class Head:
    """From vectors (n, width) behind the last norm to logits; `scale` and `cap` are what the model does to these."""

    layer: Any
    scale: float = 1.0
    cap: float | None = None

    def logits(self, hidden: Any) -> Any:
        """Logits (n, words) in float32 or more. A GPU adds up in it, and gives it where it is asked to."""
        import torch

        hidden = hidden.to(self.layer.weight.dtype)  # Mamba's stay in float32
        if hidden.is_cuda and hidden.dtype != torch.float32 and type(self.layer) is torch.nn.Linear:
            made = torch.mm(hidden, self.layer.weight.t(), out_dtype=torch.float32)
            made = made if self.layer.bias is None else made.add_(self.layer.bias)
        else:
            made = self.layer(hidden)
            made = made.to(torch.promote_types(made.dtype, torch.float32))
        made = made if self.scale == 1 else made * self.scale
        return made if self.cap is None else self.cap * torch.tanh(made / self.cap)

    @property
    def words(self) -> int:
        """How many logits there are for a token."""
        return int(self.layer.weight.shape[0])


def measures(head: Head, hidden: Any, targets: Any, second: Head | None = None, second_hidden: Any = None) -> Any:
    """`statistics.PARTS` of each target: float32 (n, 5) on the device.

    `hidden` (n, width) are the vectors that predict `targets` (n). `second` is the head of the second model of
    Binoculars, whose vectors are `second_hidden`.
    """
    import torch

    size = max(1, VALUES // head.words)
    found = [
        _slice(
            head.logits(hidden[s : s + size]),
            targets[s : s + size],
            None if second is None else second.logits(second_hidden[s : s + size]),
        )
        for s in range(0, len(targets), size)
    ]
    return torch.cat(found) if found else torch.zeros((0, 5), device=targets.device)


def _slice(logits: Any, targets: Any, second: Any) -> Any:
    """All is read off exp(z), z being the logits less their largest: few passes over the vocabulary, some in place.

    The variance as mean of squares less square of mean is exact enough here, because z is 0 where p is large.
    """
    import torch

    of_target = logits.gather(-1, targets[:, None])
    rank = (logits > of_target).sum(-1) + 1
    z, most = _shifted(logits)
    e = z.exp()
    total = e.sum(-1)
    log_total = total.log()
    weighted = e * z
    mean = weighted.sum(-1) / total
    variance = (torch.linalg.vecdot(weighted, z) / total - mean.square()).clamp_(min=0)
    cross = torch.zeros_like(mean)
    if second is not None:
        words = min(e.shape[-1], second.shape[-1])  # embeddings may be padded to different sizes
        q, e = _shifted(second)[0], e[:, :words]
        share = e.sum(-1) / total
        cross = share * q.logsumexp(-1) - torch.linalg.vecdot(e, q[:, :words]) / total
    return torch.stack(
        [log_total + (most - of_target).squeeze(-1), rank.log(), log_total - mean, variance, cross], -1
    ).float()


def _shifted(logits: Any) -> tuple[Any, Any]:
    """Logits less their largest, in their own memory; and the largest (n, 1)."""
    most = logits.amax(-1, keepdim=True)
    return logits.sub_(most).clamp_(min=FLOOR), most
