"""The score stage: models look at documents together with their images, and bounds of what they measure decide."""
