"""What models that torch runs have in common: the device, its memory, files of weights, work done ahead of it.

Nothing heavy is imported before it is used.
"""
