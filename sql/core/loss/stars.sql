-- name: loss/stars
-- params: boxes (table of a format whose cells are a value or nothing), columns (code columns)
-- returns: stars bigint (cells that are nothing), starred bigint (rows with such a cell),
--   hidden bigint (rows all of whose cells are)
SELECT
    CAST(COALESCE(
        SUM(b.n * ({% for code in columns %}{{ " + " if not loop.first }}b.lm_{{ code }}{% endfor %})), 0
    ) AS BIGINT) AS stars
    , CAST(COALESCE(SUM(CASE
        WHEN {% for code in columns %}{{ " OR " if not loop.first }}b.lm_{{ code }} = 1{% endfor %} THEN b.n
        ELSE 0
    END), 0) AS BIGINT) AS starred
    , CAST(COALESCE(SUM(CASE
        WHEN {% for code in columns %}{{ " AND " if not loop.first }}b.lm_{{ code }} = 1{% endfor %} THEN b.n
        ELSE 0
    END), 0) AS BIGINT) AS hidden
FROM {{ boxes | table }} AS b
