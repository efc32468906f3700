"""Parameters, parsed once into checked objects."""
