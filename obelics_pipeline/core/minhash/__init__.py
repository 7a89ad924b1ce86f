"""MinHash signatures of texts, by which near duplicates are found."""
