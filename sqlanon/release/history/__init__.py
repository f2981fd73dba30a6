"""What versions of one release reveal together: the private history of each, and comparisons of two."""
