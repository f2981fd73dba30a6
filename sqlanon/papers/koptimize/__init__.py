"""The best cut points of ordered columns (after Bayardo and Agrawal 2005)."""
