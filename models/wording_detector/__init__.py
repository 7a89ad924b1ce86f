"""Words that a program chose, moved or chained: how people put words next to each other, and where a text does not."""
