"""Why a process ended, from the last of what it wrote: so that fifteen restarts can be counted by their causes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from obelics_pipeline.training.train.health.xid import xids

REASONS: tuple[tuple[str, str], ...] = (
    ("lost_gpu", r"fallen off the bus|GPU is lost|no CUDA-capable device|Unable to determine the device handle"),
    ("ecc", r"uncorrectable ECC|ECC error|cudaErrorECCUncorrectable|remapping.*fail"),
    ("out_of_memory", r"OutOfMemoryError|CUDA out of memory|can't allocate memory|CUBLAS_STATUS_ALLOC_FAILED"),
    ("killed", r"Out of memory: Killed process|oom-kill|SIGKILL|exitcode\s*:\s*-9\b"),
    ("hang", r"no sign of life for|Watchdog caught collective operation timeout|heartbeat.*timed? ?out"
             r"|Some NCCL operations have failed or timed out"),
    ("network", r"NCCL (?:WARN|error|failure)|ncclSystemError|ncclRemoteError|ncclInternalError|ncclUnhandledCudaError"
                r"|Connection (?:reset|closed) by peer|ibv_|NET/IB|Gloo.*(?:reset|closed)"),
    ("disk_full", r"No space left on device|Disk quota exceeded"),
    ("storage", r"Stale file handle|Transport endpoint is not connected|Input/output error|Remote I/O error"),
    ("cuda", r"CUDA error|cudaError|CUBLAS_STATUS_|device-side assert|illegal memory access|cuDNN error"),
    ("preempted", r"PREEMPT|DUE TO TIME LIMIT|SIGTERM|spot.*(?:reclaim|interrupt)|exitcode\s*:\s*-15\b"),
    ("refused", r"UserError|^error: "),
    ("stopped_by_guard", r"stopped by the guard|the guard has stopped"),
    ("code", r"Traceback \(most recent call last\)|Segmentation fault|exitcode\s*:\s*-11\b"),
)  # fmt: skip
"""Reason and pattern, the more particular ones first: a lost GPU makes CUDA errors, and these make tracebacks."""

XID_REASONS = {79: "lost_gpu", 48: "ecc", 64: "ecc", 94: "ecc", 95: "ecc", 140: "ecc", 74: "network", 119: "lost_gpu"}

_PATTERNS = [(reason, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for reason, pattern in REASONS]


def exit_reason(lines: Iterable[str]) -> str:
    """One of the reasons above; "unknown" where nothing speaks for one.

    The kernel's messages of the driver have the first word. Then the first reason of the list that any line gives:
    the other ranks' errors, which follow from it, are further down in the list.
    """
    lines = list(lines)
    for xid in xids(lines):
        if xid.code in XID_REASONS:
            return XID_REASONS[xid.code]
    text = "\n".join(lines)
    return next((reason for reason, pattern in _PATTERNS if pattern.search(text)), "unknown")
