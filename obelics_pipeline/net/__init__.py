"""The network: one guarded HTTP client, and hosts and URLs in one spelling."""
