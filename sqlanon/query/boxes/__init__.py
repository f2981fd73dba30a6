"""What a published row may stand for: intervals, listed values, hierarchy nodes, steps."""
