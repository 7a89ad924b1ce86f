"""Shared by all packages: documents, their tables, the files of a run and how they are committed, the config."""
