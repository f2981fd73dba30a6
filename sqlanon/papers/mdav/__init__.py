"""Clusters around the rows farthest from the mean (Domingo-Ferrer and Mateo-Sanz 2002)."""
