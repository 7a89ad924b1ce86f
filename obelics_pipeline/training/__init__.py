"""From shards to a trained model, and back from a loss spike to the pages that made it."""
