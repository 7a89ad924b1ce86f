"""Files of rows: Parquet, JSON Lines, tars in WebDataset's convention; each row with its number, or why it is lost."""
