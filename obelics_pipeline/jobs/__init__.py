"""A run: its stages in order, its folder, shuffles, event log and display."""
