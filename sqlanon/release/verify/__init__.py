"""Checks of written tables, independent of methods.

Of what a run made of its source they use the staged rows and boxes only.
"""
