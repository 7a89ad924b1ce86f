"""A corpus tells what it is: a card for people, and Croissant for machines."""
