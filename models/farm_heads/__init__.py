"""The heads of `farm_score`: detectors that each look for something else, and how one score comes of them."""
