"""Statements as people and tools write them, brought to the form that is answered.

Each file is a pass over the tree, with the conditions under which the statement means the same.
"""
