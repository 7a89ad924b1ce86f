"""What a run's folder says of its documents, paragraphs and images, as columns: for a report, and to tune by."""
