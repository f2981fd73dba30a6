"""The values that a published row may have: intervals, listed values, hierarchy nodes, steps."""
