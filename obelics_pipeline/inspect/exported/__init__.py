"""A finished corpus in the formats that training loaders read: a module for each, written a file at a time."""
