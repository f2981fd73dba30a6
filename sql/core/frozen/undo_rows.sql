-- name: frozen/undo_rows
-- params: rows (the lineage's), version, columns (names of columns to empty)
-- returns: nothing; the rows of a version that readers never had wait again
UPDATE {{ rows | table }}
SET _sqlanon_class = NULL, _sqlanon_since = NULL{% for c in columns %}, {{ c | ident }} = NULL{% endfor %}

WHERE _sqlanon_since = {{ version }}
