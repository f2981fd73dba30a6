"""Reports as text for humans, at 80 columns: one function a report, nothing but counts, measures and names."""
