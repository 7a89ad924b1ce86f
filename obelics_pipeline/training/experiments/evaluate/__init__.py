"""What a trained Flamingo can do: few-shot tasks, fixed prompts, and whether the loss is where it should be."""
