-- name: recode/groups
-- params: boxes (table to make), classed (table), columns (QI code columns)
-- returns: class, n, and per column lo_, hi_ (codes, the same), ncp_ and lm_ (double): 0,
--   because every row shows its own values
CREATE {{ boxes | scratch }} AS
SELECT
    s.class AS class
    , COUNT(*) AS n
{% for code in columns %}
    , CAST(0 AS INTEGER) AS lo_{{ code }}
    , CAST(0 AS INTEGER) AS hi_{{ code }}
    , CAST(0 AS DOUBLE) AS ncp_{{ code }}
    , CAST(0 AS DOUBLE) AS lm_{{ code }}
{% endfor %}
FROM {{ classed | table }} AS s
GROUP BY s.class
