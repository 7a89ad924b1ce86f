"""What is read off a model's logits, in slices: no step ever holds those of all its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

VALUES = 1 << 26  # of a slice's logits: 0.27 GB of float32, of which five or so are held at a time
FLOOR = -1e3  # of log p where it enters a mean over all tokens: exp of it is 0, and so is its share


@dataclass(frozen=True)
class Head:
    """From vectors (n, width) behind the last norm to logits; `scale` and `cap` are what the model does to these."""

    layer: Any
    scale: float = 1.0
    cap: float | None = None

    def logits(self, hidden: Any) -> Any:
        """Logits (n, words) in float32 or more. A GPU adds up in it, and gives it where it is asked to."""
        import torch

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
    import torch

    of_target = logits.gather(-1, targets[:, None])
    rank = (logits > of_target).sum(-1) + 1
    log_z = logits.logsumexp(-1, keepdim=True)
    loss = (log_z - of_target).squeeze(-1)
    log_p = (logits - log_z).clamp_(min=FLOOR)
    p = log_p.exp()
    mean = (p * log_p).sum(-1)
    variance = (p * (log_p - mean[:, None]).square()).sum(-1)
    cross = torch.zeros_like(loss)
    if second is not None:
        words = min(p.shape[-1], second.shape[-1])  # embeddings may be padded to different sizes
        log_q = (second - second.logsumexp(-1, keepdim=True)).clamp_(min=FLOOR)
        cross = -(p[:, :words] * log_q[:, :words]).sum(-1)
    return torch.stack([loss, rank.log(), -mean, variance, cross], dim=-1).float()
