"""What a model says of each image by itself: the probability of a label, such as watermark, or how much people like it.

Nothing heavy is imported here: onnxruntime, torch and transformers load with the first model that needs them.
"""
