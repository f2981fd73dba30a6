-- name: verify/numbers
-- params: numbers (table to make), released (table), names (all published QI-derived columns, in order)
-- returns: class, number bigint: equal for classes that publish the same, and for no others, as a hash could be
CREATE {{ numbers | scratch }} AS
SELECT
    r._sqlanon_class AS class
    , DENSE_RANK() OVER (
        ORDER BY {% for name in names %}{{ ", " if not loop.first }}r.{{ name | ident }}{% endfor %}
    ) AS number
FROM {{ released | table }} AS r
