"""(alpha, k)-anonymity (Wong et al. 2006)."""
