"""The possible values of a published row: intervals, listed values, hierarchy nodes, steps.

They decide which tests hold.
"""
