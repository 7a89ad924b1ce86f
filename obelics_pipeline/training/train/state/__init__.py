"""What a training run remembers: what was done to it and why, and all that it needs to go on after a stop."""
