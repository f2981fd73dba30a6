"""k-map (Sweeney 2002)."""
