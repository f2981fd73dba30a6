"""Reports of a release for people.

The owner's report is confidential; the readers' report is made from tables that they may read.

Sections are made of plain parts (`document`), which `page` writes as HTML or Markdown by the templates in this folder.
"""

from sqlanon.report.document import Page
from sqlanon.report.frames import FRAMES, frame_report
from sqlanon.report.owner import owner_report
from sqlanon.report.page import write_page
from sqlanon.report.readers import readers_report
