"""Images that img2dataset fetched before: what its files hold, found by URL, and taken before a host is asked."""
