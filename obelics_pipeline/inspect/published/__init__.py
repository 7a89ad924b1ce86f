"""Giving a finished corpus to others: Parquet files with texts and pictures, and the card beside them."""
