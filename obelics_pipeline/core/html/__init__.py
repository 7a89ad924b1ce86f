"""Text from the web in HTML pages and on terminals: whatever it says, it is text."""
