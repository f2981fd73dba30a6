"""The adult example."""
