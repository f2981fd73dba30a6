"""The values that a published row may have: intervals, listed values, hierarchy nodes, steps; which tests hold for them."""
