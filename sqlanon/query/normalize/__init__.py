"""Statements as people and tools write them, brought to the one form that is answered.

Each file is one pass over the tree, with the conditions under which the statement means the same.
"""
