"""What a run would keep under another config, to the document, from what its folder holds already."""
