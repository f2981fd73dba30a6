"""SQL text: find a template, render it, check it against an allow-list, compile it to an engine's dialect.

The only room that imports jinja2 and sqlglot for SQL that we generate. Templates live in ``sql/``:
``core/<topic>/<verb>.sql`` in DuckDB's dialect, ``<engine>/<same path>.sql`` where an engine needs its own words: it
extends the core template by the blocks and macros that differ, or replaces it.
"""

from sqlanon.sqltext.compile import statement
from sqlanon.sqltext.find import add_template, own_functions, template_names, template_path
from sqlanon.sqltext.quote import identifier, in_dialect, literal, respell, scratch_table, table_name, type_name
