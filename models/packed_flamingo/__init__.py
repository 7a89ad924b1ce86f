"""A Flamingo to be trained: packed documents, any causal language model of transformers, any vision tower.

`document_tokens` needs no torch; all other modules do.
"""
