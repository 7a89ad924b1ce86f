"""Images that look the same in too many documents."""
