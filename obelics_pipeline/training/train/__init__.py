"""Training a Flamingo on a plan: what is read, the step, what is written down, and what watches over it."""
