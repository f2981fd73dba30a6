"""l-diversity by frequency and by different values (Machanavajjhala et al. 2006)."""
