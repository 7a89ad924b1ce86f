"""The licence of a page and of its pictures."""
