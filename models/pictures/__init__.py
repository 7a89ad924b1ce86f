"""Images of documents, for models that look at them: where their bytes come from, and what they show.

Nothing here needs torch.
"""
