"""From staged rows to classes that cover them: who runs a method on what, own boxes, suppression, recoding."""
