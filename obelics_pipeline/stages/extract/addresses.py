"""What addresses of images say, in C where that was built: each module that needs it has the same in Python."""

from __future__ import annotations

try:
    from obelics_pipeline.stages.extract import _addresses
except ImportError:
    COMPILED = False
else:
    COMPILED = True
    compiled = _addresses

__all__ = ["COMPILED", "compiled"]
