"""A run before, during and after it, for people: check, report, explain, tune, map, card, and a copy to publish."""
