"""OpenFlamingo as a judge of documents: the loss of each token of an interleaved document, given its images.

Nothing heavy is imported here: torch, transformers, open_clip and open_flamingo load with the first model.
"""
