"""Queries over noisy statistics: sums of published groups, with the deviation of each sum's own noise."""
