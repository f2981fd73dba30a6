"""Clusters that unite two by two (Gionis and Tassa 2007)."""
