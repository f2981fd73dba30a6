"""The census example."""
