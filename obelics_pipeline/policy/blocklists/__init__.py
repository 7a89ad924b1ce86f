"""Lists of domains and URLs: read from what others publish, looked up among millions in less than a microsecond."""
