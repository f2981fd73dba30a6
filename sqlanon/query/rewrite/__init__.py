"""From a checked tree to one SQL statement over the release: box rows, sums, the final select."""
