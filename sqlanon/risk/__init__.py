"""Figures of any table without a policy: privacy models, risk in the field's terms, and columns that identify.

What belongs here: figures of a table that are measured and never asked for. They are computed of counts that queries of
``sql/core/risk`` return, and no figure decides an exit code. Nothing is written, not even a temporary table, unless
more than 32 columns are combined (`sqlanon.risk.distinct`). What a policy asks for is judged by
`sqlanon.release.verify`.
"""

from sqlanon.risk.assess import THRESHOLD, VALUE, AssessedColumns, Population, assess
from sqlanon.risk.attackers import of_persons
from sqlanon.risk.identifying_columns import identify
from sqlanon.risk.known_columns import measure_known
from sqlanon.risk.sizes import class_sizes
