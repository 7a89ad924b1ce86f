"""From a spike of a training run back to the pages that made it, and what to do about them."""
