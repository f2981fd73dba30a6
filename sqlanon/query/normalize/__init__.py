"""Brings statements of people and tools to one form.

Each file is a pass over the tree, with the conditions under which the statement means the same.
"""
