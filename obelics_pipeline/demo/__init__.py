"""The demo: a small web site written for it, packed into WARC files and served on loopback, as input of a real run."""
