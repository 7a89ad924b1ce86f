"""A run: its stages tied together, shuffles, events, and what a person sees meanwhile."""
