"""What every room shares: the document, its tables, files of a run and how they are committed, the config."""
