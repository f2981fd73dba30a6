-- name: privacy/below_rows
-- params: made (table to make), rows (table), groups (columns), count (column with the
--   number of rows that each represents, or none), asked
-- returns: the columns of groups: every group of fewer than asked rows
CREATE {{ made | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ rows | table }} AS t
GROUP BY {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

HAVING {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} < {{ asked }}
