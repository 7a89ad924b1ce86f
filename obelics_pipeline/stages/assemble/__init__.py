"""Documents meet their images, and are decided."""
