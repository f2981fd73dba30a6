"""Reports as text for humans, at 80 columns: a function for each report, nothing but counts, measures and names."""
