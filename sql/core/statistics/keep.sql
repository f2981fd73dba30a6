-- name: statistics/keep
-- params: kept (table to make), table, columns (names)
-- returns: the same rows in a private table of the version
CREATE TABLE {{ kept | table }} AS
SELECT {% for name in columns %}{{ ", " if not loop.first }}t.{{ name }} AS {{ name }}{% endfor %}

FROM {{ table | table }} AS t
