-- name: noisy/verify_view
-- params: physical (published table), drawn (table of noisy numbers), columns (names)
-- returns: how many rows of one are not in the other, and by how much their numbers of rows differ
SELECT
    (SELECT COUNT(*) FROM (
        SELECT {% for name in columns %}{{ ", " if not loop.first }}d.{{ name | ident }}{% endfor %} FROM {{ drawn | table }} AS d
        EXCEPT
        SELECT {% for name in columns %}{{ ", " if not loop.first }}p.{{ name | ident }}{% endfor %} FROM {{ physical | table }} AS p
    ) AS missing)
    + (SELECT COUNT(*) FROM (
        SELECT {% for name in columns %}{{ ", " if not loop.first }}p.{{ name | ident }}{% endfor %} FROM {{ physical | table }} AS p
        EXCEPT
        SELECT {% for name in columns %}{{ ", " if not loop.first }}d.{{ name | ident }}{% endfor %} FROM {{ drawn | table }} AS d
    ) AS added)
    + ABS((SELECT COUNT(*) FROM {{ drawn | table }} AS d) - (SELECT COUNT(*) FROM {{ physical | table }} AS p)) AS differences
