"""Tables of a run's documents, paragraphs and images, read from its folder, for the report and for tuning."""
