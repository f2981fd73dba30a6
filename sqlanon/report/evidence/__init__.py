"""A bundle of evidence about a version: one file that stays, and that anybody can check.

What belongs here: which files are in it, how they are written so that the same version gives the same bytes, and how a
bundle is checked. No file of it has a value of a cell.
"""

from sqlanon.report.evidence.bundle import make_bundle
from sqlanon.report.evidence.check import CheckedBundle, check_bundle

__all__ = ["CheckedBundle", "check_bundle", "make_bundle"]
