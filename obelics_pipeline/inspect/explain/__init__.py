"""The life of one record, from its bytes to what was kept of it and why, for people to read."""
