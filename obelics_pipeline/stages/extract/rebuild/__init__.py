"""What scripts would have put in place, put there: a page as a reader sees it, before it is simplified."""
