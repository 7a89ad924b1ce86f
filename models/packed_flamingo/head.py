"""The loss of each target, and what else is read off the same logits, in slices: no step ever holds all its logits."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

SLICE = 1024  # targets whose logits are in memory at a time: 0.2 GB of float32 over 50,000 words

Measures = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


class Head(nn.Module):
    """Logits over the words of a language model and the tokens that a Flamingo adds to them.

    `weight` (added, width) has the rows of the latter; None where the language model's embeddings are its head's rows
    too, and those of the added tokens likewise. `scale` and `cap` are what the language model does to its logits.
    """

    def __init__(self, weight: nn.Parameter | None, scale: float, cap: float | None) -> None:
        super().__init__()
        self.weight = weight
        self.scale, self.cap = scale, cap

    def forward(
        self,
        hidden: torch.Tensor,
        labels: torch.Tensor,
        words: torch.Tensor,
        bias: torch.Tensor | None,
        added: torch.Tensor,
        with_el2n: bool,
    ) -> Measures:
        """Negative log-likelihood, log z, EL2N (zeros if not wanted) and the likeliest token of each target.

        `hidden` (targets, width) are the vectors that predict `labels` (targets). All are float32, except the last.
        """
        rows = added if self.weight is None else self.weight
        dtype = _dtype(hidden)
        hidden, words, rows = (self.scale * hidden).to(dtype), words.to(dtype), rows.to(dtype)
        bias = None if bias is None else functional.pad(bias, (0, len(rows)))
        with torch.autocast(hidden.device.type, enabled=False):
            if self.cap is not None:
                return _capped(hidden, labels, words, bias, rows, self.cap, with_el2n)
            made: Measures = _TargetLoss.apply(hidden, labels, words, bias, rows, with_el2n)
            return made

    def logits(
        self, hidden: torch.Tensor, words: torch.Tensor, bias: torch.Tensor | None, added: torch.Tensor
    ) -> torch.Tensor:
        """Logits of vectors (…, width) over words and added tokens: for looking at, not for training."""
        dtype, rows = _dtype(hidden), added if self.weight is None else self.weight
        hidden = hidden.to(dtype) if self.scale == 1 else (self.scale * hidden).to(dtype)
        known = functional.linear(hidden, words.to(dtype), bias)
        made = torch.cat([known, functional.linear(hidden, rows.to(dtype))], dim=-1)
        return made if self.cap is None else self.cap * torch.tanh(made / self.cap)


def _dtype(hidden: torch.Tensor) -> torch.dtype:
    """In which the products with the vocabulary are made."""
    device = hidden.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype


class _TargetLoss(torch.autograd.Function):
    """Loss and log z of targets, whose gradients need no logits in the backward pass.

    Of logits x = W h, the gradient of log z is p W, and that of the loss is p W - W[label], p being the softmax. So p W
    is all there is to keep, whatever weights the two get later: one vector per target, made while its logits are there.
    Only where W itself trains are the logits made again.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        labels: torch.Tensor,
        words: torch.Tensor,
        bias: torch.Tensor | None,
        added: torch.Tensor,
        with_el2n: bool,
    ) -> Measures:
        count, known = len(hidden), len(words)
        dtype = torch.promote_types(hidden.dtype, torch.float32)
        nll, log_z, el2n = (hidden.new_zeros(count, dtype=dtype) for _ in range(3))
        top1 = labels.new_zeros(count)
        p_words = torch.empty_like(hidden)
        p_added = hidden.new_empty(count, len(added), dtype=dtype)
        wanted = any(ctx.needs_input_grad)
        for start in range(0, count, SLICE):
            cut = slice(start, start + SLICE)
            x = _logits(hidden[cut], words, bias, added, dtype)
            most, top1[cut] = x.max(-1)
            of_label = x.gather(-1, labels[cut, None]).squeeze(-1)
            e = x.sub_(most[:, None]).exp_()
            total = e.sum(-1)
            log_z[cut] = most + total.log()
            nll[cut] = log_z[cut] - of_label
            if with_el2n:
                square = torch.linalg.vector_norm(e, dim=-1).square() / total.square()
                el2n[cut] = (square - 2 * torch.exp(-nll[cut]) + 1).clamp_(min=0)
            if wanted:
                p_added[cut] = e[:, known:] / total[:, None]
                mean = (e[:, :known].to(words.dtype) @ words) / total[:, None]
                p_words[cut] = mean + p_added[cut].to(added.dtype) @ added
        ctx.save_for_backward(hidden, labels, words, bias, added, p_words, p_added, log_z)
        ctx.mark_non_differentiable(el2n, top1)
        ctx.set_materialize_grads(True)
        return nll, log_z, el2n, top1

    @staticmethod
    def backward(ctx: Any, of_nll: torch.Tensor, of_log_z: torch.Tensor, *_: Any) -> Any:
        hidden, labels, words, _, added, p_words, p_added, _ = ctx.saved_tensors
        known = len(words)
        is_added = labels >= known
        both = of_nll + of_log_z
        grad_hidden = grad_words = grad_bias = grad_added = None
        if ctx.needs_input_grad[0]:
            rows = functional.embedding(labels.clamp(max=known - 1), words)
            if len(added):
                own = functional.embedding((labels - known).clamp(min=0), added)
                rows = torch.where(is_added[:, None], own, rows)
            grad_hidden = (both[:, None] * p_words - of_nll[:, None] * rows).to(hidden.dtype)
        if ctx.needs_input_grad[4] and len(added):
            share = both[:, None] * p_added
            of_label = torch.where(is_added, -of_nll, 0)
            share.scatter_add_(1, (labels - known).clamp(min=0)[:, None], of_label[:, None])
            grad_added = share.to(hidden.dtype).t() @ hidden
        if ctx.needs_input_grad[2] or ctx.needs_input_grad[3]:
            grad_words, grad_bias = _of_words(ctx.saved_tensors, of_nll, both)
        return grad_hidden, None, grad_words, grad_bias, grad_added, None


def _logits(
    hidden: torch.Tensor, words: torch.Tensor, bias: torch.Tensor | None, added: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    """Logits in float32 or more. A GPU adds up in it, and gives it where it is asked to."""
    if hidden.is_cuda and hidden.dtype != dtype:
        parts = [torch.mm(hidden, rows.t(), out_dtype=dtype) for rows in (words, added) if len(rows)]
    else:
        parts = [hidden @ rows.t() for rows in (words, added)]
    made = hidden.new_empty(len(hidden), len(words) + len(added), dtype=dtype)
    made[:, : len(words)] = parts[0]
    if len(added):
        made[:, len(words) :] = parts[1]
    return made if bias is None else made.add_(bias)


def _of_words(saved: Any, of_nll: torch.Tensor, both: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Gradients of a head that trains."""
    hidden, labels, words, bias, added, _, _, log_z = saved
    of_rows = torch.zeros_like(words, dtype=log_z.dtype)
    of_bias = None if bias is None else log_z.new_zeros(len(bias))
    for start in range(0, len(hidden), SLICE):
        cut = slice(start, start + SLICE)
        share = (_logits(hidden[cut], words, bias, added, log_z.dtype) - log_z[cut, None]).exp_()
        share *= both[cut, None]
        share.scatter_add_(1, labels[cut, None], -of_nll[cut, None])
        of_rows += share[:, : len(words)].to(hidden.dtype).t() @ hidden[cut]
        if of_bias is not None:
            of_bias += share.sum(0)
    return of_rows.to(words.dtype), None if of_bias is None else of_bias.to(bias.dtype)


def _capped(
    hidden: torch.Tensor,
    labels: torch.Tensor,
    words: torch.Tensor,
    bias: torch.Tensor | None,
    added: torch.Tensor,
    cap: float,
    with_el2n: bool,
) -> Measures:
    """The same where logits are capped, by autograd, which makes each slice's logits again."""
    parts: list[Measures] = []
    for start in range(0, max(len(hidden), 1), SLICE):
        cut = slice(start, start + SLICE)
        parts.append(
            checkpoint(_of_slice, hidden[cut], labels[cut], words, bias, added, cap, with_el2n, use_reentrant=False)
        )
    nll, log_z, el2n, top1 = (torch.cat(values) for values in zip(*parts, strict=True))
    return nll, log_z, el2n, top1


def _of_slice(
    hidden: torch.Tensor,
    labels: torch.Tensor,
    words: torch.Tensor,
    bias: torch.Tensor | None,
    added: torch.Tensor,
    cap: float | None,
    with_el2n: bool,
) -> Measures:
    """As a textbook has it."""
    x = torch.cat([hidden @ words.t(), hidden @ added.t()], dim=-1)
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    x = x if bias is None else x + bias
    x = x if cap is None else cap * torch.tanh(x / cap)
    log_z = x.logsumexp(-1)
    of_label = x.gather(-1, labels[:, None]).squeeze(-1)
    with torch.no_grad():
        p = (x - log_z[:, None]).exp()
        el2n = p.square().sum(-1) - 2 * (of_label - log_z).exp() + 1 if with_el2n else torch.zeros_like(log_z)
        top1 = x.argmax(-1)
    return log_z - of_label, log_z, el2n, top1
