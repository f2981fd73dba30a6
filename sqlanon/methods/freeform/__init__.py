"""Method ``freeform``: k matchings of rows and boxes, one drawn by a secret; the class is in `method`."""
