"""The Python API: `connect` to a database and anonymize tables, or `anonymize` a file or a data frame.

It is the facade over every room.
"""

from sqlanon.database.anonymize_file import anonymize
from sqlanon.database.database import Database
from sqlanon.database.export import check_file
from sqlanon.database.files import FILES, open_file, open_files
from sqlanon.database.frames import FrameRelease
from sqlanon.database.open_url import connect
from sqlanon.database.release import Release
