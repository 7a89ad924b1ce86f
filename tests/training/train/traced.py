"""`obelics` whose blocks are traced as for compiling, forwards and backwards, and not compiled: that takes minutes."""

import sys
from functools import partial

import torch

torch.compile = partial(torch.compile, backend="aot_eager")

from obelics_pipeline.cli.main import main

sys.exit(main())
