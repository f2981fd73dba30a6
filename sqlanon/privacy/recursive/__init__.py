"""Recursive (c, l)-diversity (Machanavajjhala et al. 2006)."""
