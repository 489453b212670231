"""Task files: the bundled kinds, made from a seed, and tasks out of any data set."""
