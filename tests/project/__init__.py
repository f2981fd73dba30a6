"""Promises of the project on its own files.

They are on the contents of the wheel, imports, the length of files, and names.
"""
