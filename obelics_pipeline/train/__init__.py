"""The trainer: a Flamingo on the shards that the pipeline writes, and the record of how it went."""
