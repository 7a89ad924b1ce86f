"""A small Flamingo from scratch, for tests, the demo, and to see what the loss finds: `obelics fit flamingo`."""
