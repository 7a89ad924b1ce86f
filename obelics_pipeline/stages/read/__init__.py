"""From WARC files, local or remote, to decoded pages; what is not a page is counted with a reason."""
