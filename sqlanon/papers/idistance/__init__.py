"""Along centres and distances (Zhang et al. 2005; Ghinita et al. 2009)."""
