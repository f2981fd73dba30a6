"""The values that a published row may have: intervals, listed values, hierarchy nodes, steps.

Which tests hold for them.
"""
