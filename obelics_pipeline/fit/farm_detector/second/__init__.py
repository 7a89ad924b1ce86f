"""The families once more, by programs, words and templates of their own: each implementation judges the other."""
