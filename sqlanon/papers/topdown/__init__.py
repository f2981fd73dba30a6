"""Clusters divided around two far rows (Xu et al. 2006)."""
