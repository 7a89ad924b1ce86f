"""Evidence of the site: what is added up by registered domain, and what it makes of each document."""
