"""From staged rows to classes that cover them: choice of the rows for a method, own boxes, suppression, recoding."""
