"""Top-down specialization (after Fung, Wang and Yu 2005)."""
