"""From a checked tree to a SQL statement over the release: box rows, sums, the final select."""
