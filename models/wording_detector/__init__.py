"""Words that a program put in the place of others: which words people put next to each other."""
