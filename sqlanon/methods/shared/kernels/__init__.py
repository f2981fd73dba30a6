"""Kernels of the passes after a method: refinement, trials and annealing, and of their parts."""
