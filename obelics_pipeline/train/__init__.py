"""Training a Flamingo on shards: what a run is made of, step by step."""
