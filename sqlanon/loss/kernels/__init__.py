"""Compiled parts of metrics that compare rows with rows."""
