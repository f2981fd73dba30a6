-- name: verify/shared_marks
-- params: marks, released (tables), names (all published QI-derived columns)
-- returns: shared bigint: how many more different things are published for classes than
--   there are marks: 0 if no two have one mark
SELECT
    (
        SELECT COUNT(*)
        FROM (
            SELECT DISTINCT {% for name in names %}{{ ", " if not loop.first }}r.{{ name | ident }}{% endfor %}
            FROM {{ released | table }} AS r
        ) AS d
    )
    - (SELECT COUNT(DISTINCT m.mark) FROM {{ marks | table }} AS m) AS shared
