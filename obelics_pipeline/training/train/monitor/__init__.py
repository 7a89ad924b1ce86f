"""What a model's inside looks like while it trains: activations, gradients, gates, updates. It needs torch."""
