"""t-closeness (Li, Li and Venkatasubramanian 2007)."""
