"""Tools to look at a run before, during and after it: check, report, explain, tune, map, card."""
