"""Images from the web: politely, once each, and never from where one must not."""
