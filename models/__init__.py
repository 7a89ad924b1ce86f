"""What is learned: language identification, and the language models behind perplexity."""
