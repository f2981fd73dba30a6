"""Reports of a release that people read.

An owner's, which is confidential, and one for readers, made of what they may read.

Sections are made of plain parts (`document`), which `page` writes as HTML or Markdown by the templates in this folder.
"""

from sqlanon.report.document import Page
from sqlanon.report.owner import owner_report
from sqlanon.report.page import written
from sqlanon.report.readers import readers_report

__all__ = ["Page", "owner_report", "readers_report", "written"]
