"""Loss diagnosis: from a loss spike of a training run back to the pages that caused it."""
