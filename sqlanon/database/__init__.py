"""The Python API: `connect` to a database and anonymize tables, or `anonymize` a file or a data frame.

It is the facade over every room.
"""

from sqlanon.database.anonymizing import anonymize
from sqlanon.database.database import Database
from sqlanon.database.files import FILES, open_file, open_files
from sqlanon.database.frames import FrameRelease
from sqlanon.database.opening import connect
from sqlanon.database.released import Release
from sqlanon.database.taken import check_file
