"""Generated text: which words of a text do not belong where they stand, and what that says of the whole."""
