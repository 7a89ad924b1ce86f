"""`obelics check`: what a run would need and is missing, and what it would cost, from a measured sample."""
