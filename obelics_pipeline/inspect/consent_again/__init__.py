"""Asking pages and images of a finished run once more whether they may be used, before they are published."""
