"""Losses of a method, tried on a sample of the staged rows: notes of plan and run."""
