-- name: table/domain_ordered
-- params: domain (table to make), ordinals (table), kind (of the column), by_ord (bool: ord is a given order's rank)
-- returns: code integer (NULL first, then by value), value, n bigint, pos integer in 0..2^20, ord double
-- ord is the value on a line: 0 for -infinity, NULLs and constants; the whole range for +infinity and NaN.
CREATE TEMPORARY TABLE {{ domain | table }} AS
SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY {{ "o.ord" if by_ord else "o.value" }} NULLS FIRST) - 1 AS INTEGER) AS code
    , o.value AS value
    , o.n AS n
    , CAST(CASE
        WHEN o.value IS NULL OR e.low IS NULL THEN 0
        WHEN NOT o.finite THEN CASE WHEN o.value < e.low_value THEN 0 ELSE 1048576 END
        WHEN e.high = e.low THEN 0
{% if kind == "float" %}
        ELSE FLOOR((o.ord * 0.5::DOUBLE - e.low * 0.5::DOUBLE) / (e.high * 0.5::DOUBLE - e.low * 0.5::DOUBLE) * 1048576::DOUBLE)
{% else %}
        ELSE ((o.ord - e.low) * 1048576) // (e.high - e.low)
{% endif %}
      END AS INTEGER) AS pos
    , CAST(CASE
        WHEN o.value IS NULL OR e.low IS NULL THEN 0
        WHEN NOT o.finite THEN CASE WHEN o.value < e.low_value THEN 0 ELSE CAST(e.high AS DOUBLE) - CAST(e.low AS DOUBLE) END
{% if kind == "float" %}
        ELSE CAST(o.ord AS DOUBLE) - CAST(e.low AS DOUBLE)
{% else %}
        ELSE CAST(o.ord - e.low AS DOUBLE)
{% endif %}
      END AS DOUBLE) AS ord
FROM {{ ordinals | table }} AS o
CROSS JOIN (
    SELECT MIN(f.ord) AS low, MAX(f.ord) AS high, MIN(f.value) AS low_value
    FROM {{ ordinals | table }} AS f
    WHERE f.finite
) AS e
