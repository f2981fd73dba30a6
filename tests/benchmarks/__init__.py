"""Small versions of every benchmark and example: that they run, and that what they measure with is right."""
