"""Releases: recode a class's box to a format, verify the physical table, publish it, and keep the catalog.

What belongs here: the walk of one run, and what reads a release back (audit, together). No algorithm.
"""
