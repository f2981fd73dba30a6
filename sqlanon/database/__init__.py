"""The Python API: `connect` to a database and anonymize its tables, or `anonymize` a file. The facade over every room."""

from sqlanon.database.database import Database
from sqlanon.database.files import FILES, anonymize, opened, propose_file
from sqlanon.database.opening import connect
from sqlanon.database.released import Release

__all__ = ["FILES", "Database", "Release", "anonymize", "connect", "opened", "propose_file"]
