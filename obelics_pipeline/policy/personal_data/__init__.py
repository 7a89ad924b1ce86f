"""Personal data in the texts of a page: found, and replaced, masked or dropped as the config says."""
