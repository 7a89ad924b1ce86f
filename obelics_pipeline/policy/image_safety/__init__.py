"""What must not be in an image store: known abuse material, where photos were taken, faces where one asks for it."""
