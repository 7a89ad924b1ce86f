"""How well images fit the text next to them: the cosine of both under a CLIP.

Nothing heavy is imported here: torch and open_clip load with the first model.
"""
