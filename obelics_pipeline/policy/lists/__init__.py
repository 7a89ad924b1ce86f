"""Lists that somebody else wrote: read line by line, and looked up among millions in less than a microsecond."""
