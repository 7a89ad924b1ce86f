"""The engine of a Ray cluster. The folder is not called `ray`, so that there is one package of that name."""
