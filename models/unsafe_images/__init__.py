"""How likely an image is unsafe, by any classifier: a file of ONNX, a model of transformers, or a head on a CLIP.

Nothing heavy is imported here: onnxruntime, torch and transformers load with the first model that needs them.
"""
