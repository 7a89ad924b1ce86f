"""What those who made a page or a picture say about its use, and what they forbid."""
