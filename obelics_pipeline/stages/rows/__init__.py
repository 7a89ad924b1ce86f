"""Rows of corpora that others, or we, have published: from files of tables to documents, by a layout each."""
