"""The documents of a run as points in a plane, near each other where their words are alike: `obelics map`."""
