"""Method ``freeform``: k matchings of rows and boxes, and a draw by a secret; the class is in `method`."""
