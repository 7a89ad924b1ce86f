"""Any language model of transformers, with or without images, as a judge of documents.

Nothing heavy is imported here: torch and transformers load with the first model.
"""
