"""What is measured of the pixels of a fetched image: `images.quality` in the config, docs/image_quality.md."""
