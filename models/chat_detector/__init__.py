"""Text that chat models write: whose words they are, and how predictable it is."""
