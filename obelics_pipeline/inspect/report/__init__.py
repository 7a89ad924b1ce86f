"""`obelics report`: what a run took in, what it kept and why, as one HTML file."""
