"""The commands of `obelics`: a file for each group, as its help shows them (train has two). Heavy imports come late."""
