"""Who calls the stages: one engine on this machine now, thin adapters for clusters beside it."""
